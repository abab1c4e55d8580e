//! The module. Everything is a copy from this process to itself.
#![allow(unsafe_code)] // the unsafe method of the framework's trait

use ompi_core::data::{Data, Source};
use ompi_core::error::Result;
use ompi_core::executor::Executor;
use ompi_core::framework::coll::{ALL_FUNCTIONS, Call, Functions, Module, not_here};

/// The same for every communicator.
pub struct Alone;

impl Module for Alone {
    fn functions(&self) -> Functions {
        ALL_FUNCTIONS
    }

    unsafe fn call(&self, call: &Call<'_>, executor: &mut dyn Executor) -> Result<()> {
        let (from, to): (Option<Data<'_>>, Option<Data<'_>>) = match *call {
            Call::Barrier | Call::Bcast(..) => return Ok(()),
            Call::Gather(from, to, _) | Call::Reduce(from, to, ..) => (source(from), to.copied()),
            Call::Gatherv(from, to, _) => (source(from), to.map(|to| to.block(0))),
            Call::Scatter(from, to, _) => (from.copied(), to.copied()),
            Call::Scatterv(from, to, _) => (from.map(|from| from.block(0)), to.copied()),
            Call::Allgatherv(from, to) => (source(from), Some(to.block(0))),
            Call::Alltoallv(from, to) => (from.map(|from| from.block(0)), Some(to.block(0))),
            Call::Alltoallw(from, to) => (from.map(|from| from.block(0)), Some(to.block(0))),
            Call::Allgather(from, to)
            | Call::Alltoall(from, to)
            | Call::Allreduce(from, to, _)
            | Call::ReduceScatter(from, to, ..)
            | Call::ReduceScatterBlock(from, to, _)
            | Call::Scan(from, to, _) => (source(from), Some(*to)),
            // MPI 5.0 §6.11.2: rank 0's receive buffer stays as it is.
            Call::Exscan(_, to, _) => (None, Some(*to)),
            _ => return not_here(),
        };
        if let (Some(op), Some(data)) = (call.op(), to.or(from)) {
            op.check(data.datatype)?;
        }
        // What is not in place already.
        match (from, to) {
            (Some(from), Some(to)) => executor.copy(&from, &to),
            _ => Ok(()),
        }
    }
}

fn source(from: Source<'_>) -> Option<Data<'_>> {
    match from {
        Source::InPlace => None,
        Source::From(from) => Some(from),
    }
}
