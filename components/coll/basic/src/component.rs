//! Registration.

use crate::module::Basic;
use alloc::sync::Arc;
use ompi_core::comm::Communicator;
use ompi_core::framework::coll::{self, About, Case, Function};
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
        Ok((PRIORITY, Arc::new(Basic)))
    }

    fn about(&self, function: Function, _: Case) -> Option<About> {
        let (algorithms, counts): (&'static [&'static str], _) = match function {
            Function::Barrier => (&["dissemination"], "none"),
            Function::Bcast => (&["binomial"], "of the data"),
            Function::Reduce => (&["binomial"], "of the result"),
            Function::Gather | Function::Gatherv | Function::Scatter | Function::Scatterv => {
                (&["linear"], "of a rank's block")
            }
            Function::Allgather | Function::Allgatherv => (&["ring"], "of all blocks"),
            Function::Allreduce | Function::Scan | Function::Exscan => (&["doubling"], "of the result"),
            Function::ReduceScatter | Function::ReduceScatterBlock => (&["reduce_then_scatter"], "of all blocks"),
            _ => (&["all_at_once"], "of a block"),
        };
        let choice = Ok((algorithms[0], "its only algorithm"));
        Some(About { priority: PRIORITY, algorithms, counts, forced: false, choice })
    }
}

const PRIORITY: i32 = 10;

opal_core::component! {
    /// Collectives over point-to-point messages, for every intracommunicator.
    pub static COMPONENT: BasicColl = BasicColl;
    in ompi_core::framework::coll, name "basic", params &[]
}
