//! Registration.

use crate::module::{self, Persist};
use ompi_core::framework::part;
use opal_core::mca::{self, Declined};
use opal_core::progress;

/// The component.
pub struct Component;

impl mca::Component for Component {
    opal_core::component_info!();
}

impl part::Component for Component {
    fn query(&self) -> Result<(i32, &'static dyn part::Module), Declined> {
        progress::add_callback(module::pass).map_err(|_| Declined("progress has no place left"))?;
        Ok((PRIORITY, &Persist))
    }
}

const PRIORITY: i32 = 20;

opal_core::component! {
    /// Partitioned communication by messages of the PML.
    pub static COMPONENT: Component = Component;
    in ompi_core::framework::part, name "persist", params &[]
}
