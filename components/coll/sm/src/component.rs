//! Registration.

use crate::flags::segment::Peer;
use crate::module::{Sm, is_served};
use crate::params;
use crate::select::{Choices, Way, combines, has_direct, has_own_lengths};
use alloc::sync::Arc;
use alloc::vec::Vec;
use ompi_core::comm::Communicator;
use ompi_core::framework::coll::{self, About, Case, Function};
use ompi_core::process;
use ompi_core::shared_pool::Neighbor;
use opal_core::mca::{self, Declined};

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
        let peers: Option<Vec<Option<Peer>>> = members.iter().map(|member| peer(*member)).collect();
        let peers = peers.ok_or(Declined("not all processes share memory with this one"))?;
        Ok((PRIORITY, Arc::new(Sm::new(comm.rank as usize, peers))))
    }

    fn about(&self, function: Function, case: Case) -> Option<About> {
        let choices = Choices::by_parameters();
        let forced = choices.forces(function);
        let choice = match (case.ranks, choices.way(function, case.bytes, case.ranks)) {
            (ranks, _) if ranks < 2 => Err("it serves two processes and more"),
            (ranks, _) if ranks > params::MAX_RANKS.size() => Err("more processes than coll_sm_max_ranks says"),
            (_, Way::Next) if forced => Err("the way that its parameter names is not for so many bytes"),
            (_, way) if forced => Ok((way.word(), "as its parameter says, when blocking")),
            (_, Way::Message) => Ok(("message", "a message or one each way, when blocking")),
            (3.., Way::Lines) if has_own_lengths(function) => Ok((
                "lines",
                "when blocking, from the third call on; pipeline where blocks are long and about equally so",
            )),
            (3.., Way::Lines) if combines(function) => Ok(("lines", "short data, when blocking")),
            (_, Way::Lines) => Ok(("lines", "short data, from the third call on and when blocking")),
            (_, Way::Direct) => {
                Ok(("direct", "long data, when blocking and where processes may read each other's memory"))
            }
            (_, Way::Pipeline) => Ok(("pipeline", "data too long for lines, when blocking")),
            (3.., Way::Measured) if matches!(function, Function::Reduce | Function::Allreduce) => {
                Ok(("direct", "long data, when blocking; pipeline where processes may not read each other's memory"))
            }
            (_, Way::Measured) => Ok(("pipeline", "long data, when blocking; direct where that measures better")),
            (_, Way::Next) => Err("messages are faster for so many bytes among so few processes"),
        };
        is_served(function).then_some(About {
            priority: PRIORITY,
            algorithms: match function {
                Function::Barrier => &["lines"],
                _ if has_direct(function) => &Way::WORDS[2..],
                _ => &["message", "lines", "pipeline"],
            },
            counts: "of a rank's contribution to all others",
            forced,
            choice,
        })
    }
}

const PRIORITY: i32 = 40;

/// How a process is reached; the inner `None` is this process itself, the outer one says that it shares no memory.
fn peer(index: u32) -> Option<Option<Peer>> {
    if process::get(index).is_self {
        return Some(None);
    }
    Some(Some(Peer { index, neighbor: Neighbor::of(index)? }))
}

opal_core::component! {
    /// Blocking collectives through memory that the ranks of one node share.
    pub static COMPONENT: SmColl = SmColl;
    in ompi_core::framework::coll, name "sm", params params::ALL
}
