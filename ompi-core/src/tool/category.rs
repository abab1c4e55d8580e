//! Categories: layers, in them frameworks, in them components. MPI 5.0 §15.3.9.

use crate::error::{Class, Fault, Result};
use crate::init;
use crate::tool::{cvar, element, event, pvar};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use opal_core::mca::{Layer, image};
use opal_core::sync::Once;

/// A category.
pub struct Category {
    /// A layer's name, a framework's, or a component's with its framework's before it.
    pub name: String,
    /// One sentence.
    pub description: &'static str,
    /// Indices of its control variables.
    pub cvars: Vec<i32>,
    framework: &'static str,
    component: &'static str,
    /// Indices of its event types.
    pub events: Vec<i32>,
    /// Indices of the categories in it.
    pub categories: Vec<i32>,
}

/// All of them, in the order of their index.
pub fn all() -> &'static [Category] {
    static ALL: Once<Vec<Category>> = Once::new();
    ALL.call_once(|| {
        let mut all: Vec<Category> = LAYERS
            .iter()
            .map(|(_, name, description)| Category::new(String::from(*name), description, name, ""))
            .collect();
        // The variables of a framework that is called like its layer are in the layer's.
        let is_layer = |name: &str| LAYERS.iter().any(|(_, layer, _)| *layer == name);
        for framework in init::frameworks().into_iter().filter(|framework| !is_layer(framework.name)) {
            let number = all.len();
            if let Some(layer) = LAYERS.iter().position(|(layer, ..)| *layer == framework.layer) {
                all[layer].categories.push(number as i32);
            }
            all.push(Category::new(String::from(framework.name), framework.doc, framework.name, ""));
            for component in image::components().iter().filter(|info| core::ptr::eq(info.framework, framework)) {
                let inner = all.len() as i32;
                all[number].categories.push(inner);
                let name = format!("{}_{}", framework.name, component.name);
                all.push(Category::new(name, component.doc, framework.name, component.name));
            }
        }
        all
    })
}

/// The category with an index that may be anything.
pub fn get(index: i32) -> Result<&'static Category> {
    element(all(), index, "categories").map_err(|fault| fault.argument("cat_index"))
}

/// The index of a name.
pub fn index(name: &str) -> Result<i32> {
    let found = all().iter().position(|category| category.name == name).map(|index| index as i32);
    found.ok_or_else(|| {
        Fault::new(Class::ToolInvalidName).argument("name").because(format!("no category is named {name}"))
    })
}

impl Category {
    /// Indices of its performance variables: more may come.
    pub fn pvars(&self) -> Vec<i32> {
        let pvars = pvar::all().into_iter().zip(0..);
        let own = pvars.filter(|(pvar, _)| (pvar.framework, pvar.component) == (self.framework, self.component));
        own.map(|(_, index)| index).collect()
    }

    fn new(name: String, description: &'static str, framework: &'static str, component: &'static str) -> Category {
        let cvars = cvar::all().iter().zip(0..);
        let cvars = cvars.filter(|(cvar, _)| (cvar.framework, cvar.component) == (framework, component));
        let cvars = cvars.map(|(_, index)| index).collect();
        let events = event::ALL.iter().zip(0..);
        let events = events.filter(|(event, _)| (event.framework, "") == (framework, component));
        let events = events.map(|(_, index)| index).collect();
        Category { name, description: description.trim(), framework, component, cvars, events, categories: Vec::new() }
    }
}

const LAYERS: [(Layer, &str, &str); 3] = [
    (Layer::Opal, "opal", "One process: transports, shared memory, copies, time."),
    (Layer::Orte, "orte", "A job of processes."),
    (Layer::Ompi, "ompi", "MPI: messages, collectives, topologies."),
];
