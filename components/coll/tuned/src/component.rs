//! Registration.

use crate::algorithm::{Allgather, Allreduce, Alltoall, Bcast, ReduceScatter, SERVED, Subject};
use crate::decisions;
use crate::module::Tuned;
use crate::params;
use crate::select::{Forced, Selected};
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
        let served = SERVED.iter().find(|served| served.functions.contains(&function))?;
        let (algorithm, why, named) = match served.subject {
            Subject::Bcast => words(forced.bcast(bytes, ranks), Bcast::word),
            Subject::Allreduce => words(forced.allreduce(bytes, bytes, ranks, true), Allreduce::word),
            Subject::Allgather => words(forced.allgather(bytes, ranks), Allgather::word),
            Subject::Alltoall => words(forced.alltoall(bytes, ranks), Alltoall::word),
            Subject::ReduceScatter => words(forced.reduce_scatter(bytes, bytes, ranks, true), ReduceScatter::word),
        };
        let choice = match algorithm {
            _ if ranks < 2 => Err("it serves two processes and more"),
            "next" => Err(why),
            algorithm => Ok((algorithm, why)),
        };
        // Without auto and next, which are no algorithms.
        Some(About { priority: PRIORITY, algorithms: &served.words[2..], counts: served.counts, forced: named, choice })
    }
}

fn words<T: Copy>(selected: Selected<T>, word: fn(T) -> &'static str) -> (&'static str, &'static str, bool) {
    (word(selected.algorithm), selected.why, selected.named)
}

const PRIORITY: i32 = 30;

opal_core::component! {
    /// Collectives that cut medium and large data up: rings, halving and doubling, pipelines.
    pub static COMPONENT: TunedColl = TunedColl;
    in ompi_core::framework::coll, name "tuned", params params::ALL
}
