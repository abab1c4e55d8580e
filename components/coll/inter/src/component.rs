//! Registration.

use crate::module::Inter;
use alloc::sync::Arc;
use ompi_core::comm::Communicator;
use ompi_core::framework::coll::{self, About, Case, Function};
use opal_core::mca::{self, Declined};

/// The component.
pub struct InterColl;

impl mca::Component for InterColl {
    opal_core::component_info!();
}

impl coll::Component for InterColl {
    fn query(&self, comm: &Communicator) -> Result<(i32, Arc<dyn coll::Module>), Declined> {
        if !comm.is_inter() {
            return Err(Declined("it serves intercommunicators only"));
        }
        Ok((10, Arc::new(Inter::new(comm.merged_ranks()))))
    }

    fn about(&self, _: Function, _: Case) -> Option<About> {
        None
    }
}

opal_core::component! {
    /// Collectives of intercommunicators.
    pub static COMPONENT: InterColl = InterColl;
    in ompi_core::framework::coll, name "inter", params &[]
}
