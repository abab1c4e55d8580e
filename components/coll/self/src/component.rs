//! Registration.

use crate::raw::Alone;
use alloc::sync::Arc;
use ompi_core::comm::Communicator;
use ompi_core::framework::coll;
use opal_core::mca::{self, Declined};

/// The component.
pub struct SelfColl;

impl mca::Component for SelfColl {
    opal_core::component_info!();
}

impl coll::Component for SelfColl {
    fn query(&self, comm: &Communicator) -> Result<(i32, Arc<dyn coll::Module>), Declined> {
        if comm.is_inter() || comm.size() != 1 {
            return Err(Declined("the communicator has more than one process"));
        }
        Ok((75, Arc::new(Alone)))
    }
}

opal_core::component! {
    /// Collectives of a communicator with one process.
    pub static COMPONENT: SelfColl = SelfColl;
    in ompi_core::framework::coll, name "self", params &[]
}
