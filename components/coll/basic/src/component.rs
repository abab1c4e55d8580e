//! Registration.

use crate::raw::Basic;
use alloc::sync::Arc;
use ompi_core::comm::Communicator;
use ompi_core::framework::coll;
use opal_core::mca::{self, Declined};

/// The component.
pub struct BasicColl;

impl mca::Component for BasicColl {
    opal_core::component_info!();
}

impl coll::Component for BasicColl {
    fn query(&self, comm: &Communicator) -> Result<(i32, Arc<dyn coll::Module>), Declined> {
        if comm.is_inter() {
            return Err(Declined("it serves intracommunicators only"));
        }
        Ok((10, Arc::new(Basic)))
    }
}

opal_core::component! {
    /// Collectives over point-to-point messages, for every intracommunicator.
    pub static COMPONENT: BasicColl = BasicColl;
    in ompi_core::framework::coll, name "basic", params &[]
}
