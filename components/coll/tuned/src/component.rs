//! Registration.

use crate::choice::{Allgather, Allreduce, Alltoall, Bcast, Forced, Picked, ReduceScatter};
use crate::decisions;
use crate::module::Tuned;
use crate::params;
use alloc::sync::Arc;
use ompi_core::comm::Communicator;
use ompi_core::framework::coll::{self, About, Case, Function};
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
        Ok((PRIORITY, Arc::new(Tuned::new(Forced::by_parameters()))))
    }

    fn configure(&self) -> opal_core::Result<()> {
        decisions::read()
    }

    // Of elements of a byte, and an operation that commutes.
    fn about(&self, function: Function, Case { ranks, bytes }: Case) -> Option<About> {
        let forced = Forced::by_parameters();
        let (words, (way, why, named), counts) = match function {
            Function::Bcast => (Bcast::WORDS, said(forced.bcast(bytes, ranks), Bcast::word), "of the data"),
            Function::Allreduce => {
                (Allreduce::WORDS, said(forced.allreduce(bytes, bytes, ranks, true), Allreduce::word), "of the result")
            }
            Function::Allgather => {
                (Allgather::WORDS, said(forced.allgather(bytes, ranks), Allgather::word), "of a rank's block")
            }
            Function::Alltoall => {
                (Alltoall::WORDS, said(forced.alltoall(bytes, ranks), Alltoall::word), "from one rank to another")
            }
            Function::ReduceScatter | Function::ReduceScatterBlock => {
                let picked = forced.reduce_scatter(bytes, bytes, ranks, true);
                (ReduceScatter::WORDS, said(picked, ReduceScatter::word), "of all blocks")
            }
            _ => return None,
        };
        let choice = match way {
            _ if ranks < 2 => Err("it serves two processes and more"),
            "next" => Err(why),
            way => Ok((way, why)),
        };
        // Without auto and next, which are no algorithms.
        Some(About { priority: PRIORITY, algorithms: &words[2..], counts, forced: named, choice })
    }
}

fn said<T: Copy>(picked: Picked<T>, word: fn(T) -> &'static str) -> (&'static str, &'static str, bool) {
    (word(picked.way), picked.why, picked.named)
}

const PRIORITY: i32 = 30;

opal_core::component! {
    /// Collectives that cut medium and large data up: rings, halving and doubling, pipelines.
    pub static COMPONENT: TunedColl = TunedColl;
    in ompi_core::framework::coll, name "tuned", params params::ALL
}
