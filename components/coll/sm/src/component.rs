//! Registration.

use crate::algorithm::Algorithm;
use crate::module::Sm;
use crate::params;
use crate::peer::Peer;
use crate::select::{Choices, SERVED, combines, has_own_lengths};
use alloc::sync::Arc;
use alloc::vec::Vec;
use ompi_core::comm::Communicator;
use ompi_core::framework::coll::{self, About, Case, Function};
use opal_core::mca::{self, Declined};
use opal_core::wait;

/// The component.
pub struct SmColl;

impl mca::Component for SmColl {
    opal_core::component_info!();
}

impl coll::Component for SmColl {
    fn query(&self, comm: &Communicator) -> Result<(i32, Arc<dyn coll::Module>), Declined> {
        if comm.is_inter() {
            return Err(Declined("it serves intracommunicators only"));
        }
        if comm.size() < 2 {
            return Err(Declined("the communicator has one process"));
        }
        if comm.size() > params::MAX_RANKS.size() {
            return Err(Declined("the communicator has more processes than coll_sm_max_ranks says"));
        }
        let members = comm.group.members();
        let peers: Option<Vec<Option<Peer>>> = members.iter().map(Peer::of).collect();
        let peers = peers.ok_or(Declined("not all processes share memory with this one"))?;
        Ok((PRIORITY, Arc::new(Sm::new(comm.rank as usize, peers))))
    }

    fn about(&self, function: Function, case: Case) -> Option<About> {
        let choices = Choices::by_parameters();
        choices.set_own_cores(wait::has_cores_for(case.ranks as u32));
        let forced = choices.forces(function);
        let choice = match (case.ranks, choices.algorithm(function, case.bytes, case.ranks)) {
            (ranks, _) if ranks < 2 => Err("it serves two processes and more"),
            (ranks, _) if ranks > params::MAX_RANKS.size() => Err("more processes than coll_sm_max_ranks says"),
            (_, Algorithm::Fallback) if forced => {
                Err("the algorithm that its parameter forces does not serve so many bytes")
            }
            (_, algorithm) if forced => Ok((algorithm.word(), "as its parameter says, when blocking")),
            (_, Algorithm::Message) => Ok(("message", "a message or one each way, when blocking")),
            (3.., Algorithm::Flags) if has_own_lengths(function) => Ok((
                "flags",
                "when blocking, from the third call on; pipeline where blocks are long and about equally so",
            )),
            (3.., Algorithm::Flags) if combines(function) => Ok(("flags", "short data, when blocking")),
            (_, Algorithm::Flags) => Ok(("flags", "short data, from the third call on and when blocking")),
            (_, Algorithm::Direct) => {
                Ok(("direct", "long data, when blocking and where processes may read each other's memory"))
            }
            (_, Algorithm::Pipeline) => Ok(("pipeline", "data too long for flags, when blocking")),
            (3.., Algorithm::Autotuned) if matches!(function, Function::Reduce | Function::Allreduce) => {
                Ok(("direct", "long data, when blocking; pipeline where processes may not read each other's memory"))
            }
            (_, Algorithm::Autotuned) => {
                Ok(("pipeline", "long data, when blocking; direct where that measures better"))
            }
            (_, Algorithm::Fallback) => Err("messages are faster for so many bytes among so few processes"),
        };
        let served = SERVED.iter().find(|served| served.function == function)?;
        Some(About {
            priority: PRIORITY,
            algorithms: served.algorithms,
            counts: "of a rank's contribution to all others",
            forced,
            choice,
        })
    }
}

const PRIORITY: i32 = 40;

opal_core::component! {
    /// Blocking collectives through memory that the ranks of one node share.
    pub static COMPONENT: SmColl = SmColl;
    in ompi_core::framework::coll, name "sm", params params::ALL
}
