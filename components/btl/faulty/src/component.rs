//! Registration, and the transport that gets faults.

use crate::module::Faulty;
use crate::{dice, params, pvars};
use alloc::boxed::Box;
use alloc::vec::Vec;
use opal_core::framework::btl::{self, Module};
use opal_core::mca::name::{Selection, canonical};
use opal_core::mca::{self, Declined};

/// The component.
pub struct Component;

fn wrapped() -> Option<&'static dyn btl::Component> {
    let name = canonical(params::WRAPS.text());
    btl::OMPI_BTLS.iter().copied().find(|component| component.info().name == name && name != INFO.name)
}

impl mca::Component for Component {
    opal_core::component_info!();

    fn open(&self) -> Result<(), Declined> {
        if params::WRAPS.text().is_empty() {
            return Err(Declined("btl_faulty_wraps names no transport"));
        }
        let wrapped = wrapped().ok_or(Declined("this library has no transport of the name in btl_faulty_wraps"))?;
        if Selection::parse(btl::FRAMEWORK.selection.text()).wants(wrapped.info().name) {
            return Err(Declined("the transport that it wraps runs by itself; leave that out with `--mca btl ^name`"));
        }
        wrapped.open()
    }

    fn close(&self) {
        if let Some(wrapped) = wrapped() {
            wrapped.close();
        }
    }
}

impl btl::Component for Component {
    fn serves_node(&self) -> bool {
        wrapped().is_some_and(btl::Component::serves_node)
    }

    fn query(&self) -> Result<Vec<&'static dyn Module>, Declined> {
        let wrapped = wrapped().ok_or(Declined("this library has no transport of the name in btl_faulty_wraps"))?;
        dice::seed();
        let faulty = |module| -> &'static dyn Module { Box::leak(Box::new(Faulty::new(module))) };
        Ok(wrapped.query()?.into_iter().map(faulty).collect())
    }
}

opal_core::component! {
    /// Faults on purpose, from a seed, in what another transport sends.
    pub static COMPONENT: Component = Component;
    in opal_core::framework::btl, name "faulty", params params::ALL, pvars pvars::ALL
}
