//! Registration.

use crate::module::Alone;
use alloc::sync::Arc;
use ompi_core::comm::Communicator;
use ompi_core::framework::coll::{self, About, Case, Function};
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
        Ok((PRIORITY, Arc::new(Alone)))
    }

    fn about(&self, function: Function, case: Case) -> Option<About> {
        let served = coll::ALL_FUNCTIONS >> function as u8 & 1 != 0;
        let choice = match case.ranks {
            1 => Ok(("copy", "as there is nobody else")),
            _ => Err("it serves communicators of one process"),
        };
        served.then_some(About {
            priority: PRIORITY,
            algorithms: &["copy"],
            counts: "of the data",
            forced: false,
            choice,
        })
    }
}

const PRIORITY: i32 = 75;

opal_core::component! {
    /// Collectives of a communicator with one process.
    pub static COMPONENT: SelfColl = SelfColl;
    in ompi_core::framework::coll, name "self", params &[]
}
