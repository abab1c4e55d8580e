//! Registration.

use crate::module::TemplateModule;
use ompi_core::framework::fs;
use opal_core::mca::{self, Declined};

/// The component.
pub struct Component;

impl mca::Component for Component {
    opal_core::component_info!();

    fn open(&self) -> Result<(), Declined> {
        // 1. Take this line out when the rest is written. Decline with half a sentence, which people read behind the
        // component's name, where what it needs is missing: a library of the file system.
        Err(Declined(NOT_WRITTEN))
    }
}

impl fs::Component for Component {
    fn query(&self) -> Result<(i32, &'static dyn fs::Module), Declined> {
        // 2. The highest one that accepts is used: fs/ufs has 10.
        Ok((PRIORITY, &TemplateModule))
    }
}

opal_core::component! {
    /// A file system that is not written yet.
    pub static COMPONENT: Component = Component;
    in ompi_core::framework::fs, name "template", params &[]
}

const PRIORITY: i32 = 5;
const NOT_WRITTEN: &str = "it is not written yet: src/component.rs of its crate says where to begin";
