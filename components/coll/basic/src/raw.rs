//! The module: turns the framework's unsafe calls into runs of the algorithms.
#![allow(unsafe_code)]

use crate::{allgather, allreduce, alltoall, barrier, bcast, gather, reduce, reduce_scatter, scan, scatter};
use ompi_core::comm::Communicator;
use ompi_core::data::{Blocks, Counts, Data, Source, TypedBlocks};
use ompi_core::error::Result;
use ompi_core::executor::{Executor, Immediate};
use ompi_core::framework::coll::{ALL_FUNCTIONS, Function, Functions, Module};
use ompi_core::op::Op;

/// The same for every communicator.
pub struct Basic;

/// Runs an algorithm; its messages carry the function's number as their tag.
///
/// # Safety
/// That of the framework's methods for the arguments that `algorithm` holds.
unsafe fn run(
    comm: &Communicator,
    function: Function,
    algorithm: impl FnOnce(&mut Immediate<'_>) -> Result<()>,
) -> Result<()> {
    // SAFETY: the algorithms pass parts of their arguments, which the caller vouches for, and of the executor's room.
    let mut executor = unsafe { Immediate::new(comm, function as i32) };
    let result = algorithm(&mut executor);
    let finished = executor.finish();
    result.and(finished)
}

macro_rules! offered {
    ($($name:ident($($argument:ident: $type:ty),*) as $function:ident => $algorithm:path;)*) => {
        $(unsafe fn $name(&self, $($argument: $type,)* comm: &Communicator) -> Result<()> {
            // SAFETY: this method has the same contract.
            unsafe { run(comm, Function::$function, |executor| $algorithm(executor, $($argument),*)) }
        })*
    };
}

impl Module for Basic {
    fn functions(&self) -> Functions {
        ALL_FUNCTIONS
    }

    fn barrier(&self, comm: &Communicator) -> Result<()> {
        // SAFETY: there is no data.
        unsafe { run(comm, Function::Barrier, |executor| barrier::barrier(executor)) }
    }

    offered! {
        bcast(data: &Data<'_>, root: usize) as Bcast => bcast::bcast;
        gather(from: Source<'_>, to: Option<&Data<'_>>, root: usize) as Gather => gather::gather;
        gatherv(from: Source<'_>, to: Option<&Blocks<'_>>, root: usize) as Gatherv => gather::gatherv;
        scatter(from: Option<&Data<'_>>, to: Option<&Data<'_>>, root: usize) as Scatter => scatter::scatter;
        scatterv(from: Option<&Blocks<'_>>, to: Option<&Data<'_>>, root: usize) as Scatterv => scatter::scatterv;
        allgather(from: Source<'_>, to: &Data<'_>) as Allgather => allgather::allgather;
        allgatherv(from: Source<'_>, to: &Blocks<'_>) as Allgatherv => allgather::allgatherv;
        alltoall(from: Source<'_>, to: &Data<'_>) as Alltoall => alltoall::alltoall;
        alltoallv(from: Option<&Blocks<'_>>, to: &Blocks<'_>) as Alltoallv => alltoall::alltoallv;
        alltoallw(from: Option<&TypedBlocks<'_>>, to: &TypedBlocks<'_>) as Alltoallw => alltoall::alltoallw;
        reduce(from: Source<'_>, to: Option<&Data<'_>>, op: &Op, root: usize) as Reduce => reduce::reduce;
        allreduce(from: Source<'_>, to: &Data<'_>, op: &Op) as Allreduce => allreduce::allreduce;
        reduce_scatter(from: Source<'_>, to: &Data<'_>, counts: Counts<'_>, op: &Op) as ReduceScatter
            => reduce_scatter::reduce_scatter;
        reduce_scatter_block(from: Source<'_>, to: &Data<'_>, op: &Op) as ReduceScatterBlock
            => reduce_scatter::reduce_scatter_block;
        scan(from: Source<'_>, to: &Data<'_>, op: &Op) as Scan => scan::scan;
        exscan(from: Source<'_>, to: &Data<'_>, op: &Op) as Exscan => scan::exscan;
    }
}
