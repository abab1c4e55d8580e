//! Registration.

use crate::choice::Forced;
use crate::params;
use crate::raw::Tuned;
use alloc::sync::Arc;
use ompi_core::comm::Communicator;
use ompi_core::framework::coll;
use opal_core::mca::{self, Declined};

/// The component.
pub struct TunedColl;

impl mca::Component for TunedColl {
    opal_core::component_info!();
}

impl coll::Component for TunedColl {
    fn query(&self, comm: &Communicator) -> Result<(i32, Arc<dyn coll::Module>), Declined> {
        if comm.is_inter() {
            return Err(Declined("it serves intracommunicators only"));
        }
        if comm.size() < 2 {
            return Err(Declined("the communicator has one process"));
        }
        Ok((30, Arc::new(Tuned::new(Forced::by_parameters()))))
    }
}

opal_core::component! {
    /// Collectives that cut medium and large data up: rings, halving and doubling, pipelines.
    pub static COMPONENT: TunedColl = TunedColl;
    in ompi_core::framework::coll, name "tuned", params params::ALL
}
