//! Registration.

use crate::module::Dynamic;
use crate::params;
use ompi_core::framework::fcoll::{self, Module};
use opal_core::mca::{self, Declined};

/// The component.
pub struct DynamicComponent;

impl mca::Component for DynamicComponent {
    opal_core::component_info!();
}

impl fcoll::Component for DynamicComponent {
    fn query(&self, processes: usize) -> Result<&'static dyn Module, Declined> {
        match processes {
            1 => Err(Declined("one process has nobody to gather for")),
            _ => Ok(&Dynamic),
        }
    }
}

opal_core::component! {
    /// Collective access to files: processes gather what all read or write, in parts of the file with as much data each.
    pub static COMPONENT: DynamicComponent = DynamicComponent;
    in ompi_core::framework::fcoll, name "dynamic", params params::ALL
}
