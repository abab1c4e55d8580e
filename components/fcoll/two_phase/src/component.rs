//! Registration.

use crate::module::TwoPhase;
use crate::params;
use ompi_core::framework::fcoll::{self, Module};
use opal_core::mca::{self, Declined};

/// The component.
pub struct TwoPhaseComponent;

impl mca::Component for TwoPhaseComponent {
    opal_core::component_info!();
}

impl fcoll::Component for TwoPhaseComponent {
    fn query(&self, processes: usize) -> Result<&'static dyn Module, Declined> {
        match processes {
            1 => Err(Declined("one process has nobody to gather for")),
            _ => Ok(&TwoPhase),
        }
    }
}

opal_core::component! {
    /// Collective access to files: processes gather what all read or write, for small pieces that interleave.
    pub static COMPONENT: TwoPhaseComponent = TwoPhaseComponent;
    in ompi_core::framework::fcoll, name "two_phase", params params::ALL
}
