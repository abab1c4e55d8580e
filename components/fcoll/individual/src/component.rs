//! Registration.

use crate::module::Individual;
use ompi_core::framework::fcoll::{self, Module};
use opal_core::mca::{self, Declined};

/// The component.
pub struct IndividualComponent;

impl mca::Component for IndividualComponent {
    opal_core::component_info!();
}

impl fcoll::Component for IndividualComponent {
    fn query(&self, _processes: usize) -> Result<&'static dyn Module, Declined> {
        Ok(&Individual)
    }
}

opal_core::component! {
    /// Collective access to files: each process for itself.
    pub static COMPONENT: IndividualComponent = IndividualComponent;
    in ompi_core::framework::fcoll, name "individual", params &[]
}
