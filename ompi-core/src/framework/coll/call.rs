//! A collective operation as a value: the function with its arguments.

use super::{Function, Module};
use crate::data::{Blocks, Counts, Data, Source, TypedBlocks};
use crate::error::Result;
use crate::executor::Executor;
use crate::op::Op;
use crate::topo::Neighbors;

/// Which function, with the arguments of [`Module`]'s method of that name.
#[derive(Clone, Copy)]
#[allow(missing_docs)] // see `Module`
pub enum Call<'a> {
    Barrier,
    Bcast(&'a Data<'a>, usize),
    Gather(Source<'a>, Option<&'a Data<'a>>, usize),
    Gatherv(Source<'a>, Option<&'a Blocks<'a>>, usize),
    Scatter(Option<&'a Data<'a>>, Option<&'a Data<'a>>, usize),
    Scatterv(Option<&'a Blocks<'a>>, Option<&'a Data<'a>>, usize),
    Allgather(Source<'a>, &'a Data<'a>),
    Allgatherv(Source<'a>, &'a Blocks<'a>),
    Alltoall(Source<'a>, &'a Data<'a>),
    Alltoallv(Option<&'a Blocks<'a>>, &'a Blocks<'a>),
    Alltoallw(Option<&'a TypedBlocks<'a>>, &'a TypedBlocks<'a>),
    Reduce(Source<'a>, Option<&'a Data<'a>>, &'a Op, usize),
    Allreduce(Source<'a>, &'a Data<'a>, &'a Op),
    ReduceScatter(Source<'a>, &'a Data<'a>, Counts<'a>, &'a Op),
    ReduceScatterBlock(Source<'a>, &'a Data<'a>, &'a Op),
    Scan(Source<'a>, &'a Data<'a>, &'a Op),
    Exscan(Source<'a>, &'a Data<'a>, &'a Op),
    NeighborAllgather(&'a Data<'a>, &'a Data<'a>, &'a Neighbors),
    NeighborAllgatherv(&'a Data<'a>, &'a Blocks<'a>, &'a Neighbors),
    NeighborAlltoall(&'a Data<'a>, &'a Data<'a>, &'a Neighbors),
    NeighborAlltoallv(&'a Blocks<'a>, &'a Blocks<'a>, &'a Neighbors),
    NeighborAlltoallw(&'a TypedBlocks<'a>, &'a TypedBlocks<'a>, &'a Neighbors),
}

impl Call<'_> {
    /// Which function it is.
    #[inline(always)]
    pub fn function(&self) -> Function {
        match self {
            Call::Barrier => Function::Barrier,
            Call::Bcast(..) => Function::Bcast,
            Call::Gather(..) => Function::Gather,
            Call::Gatherv(..) => Function::Gatherv,
            Call::Scatter(..) => Function::Scatter,
            Call::Scatterv(..) => Function::Scatterv,
            Call::Allgather(..) => Function::Allgather,
            Call::Allgatherv(..) => Function::Allgatherv,
            Call::Alltoall(..) => Function::Alltoall,
            Call::Alltoallv(..) => Function::Alltoallv,
            Call::Alltoallw(..) => Function::Alltoallw,
            Call::Reduce(..) => Function::Reduce,
            Call::Allreduce(..) => Function::Allreduce,
            Call::ReduceScatter(..) => Function::ReduceScatter,
            Call::ReduceScatterBlock(..) => Function::ReduceScatterBlock,
            Call::Scan(..) => Function::Scan,
            Call::Exscan(..) => Function::Exscan,
            Call::NeighborAllgather(..) => Function::NeighborAllgather,
            Call::NeighborAllgatherv(..) => Function::NeighborAllgatherv,
            Call::NeighborAlltoall(..) => Function::NeighborAlltoall,
            Call::NeighborAlltoallv(..) => Function::NeighborAlltoallv,
            Call::NeighborAlltoallw(..) => Function::NeighborAlltoallw,
        }
    }

    /// Asks a module for it.
    ///
    /// # Safety
    /// That of [`Module`]'s methods for the arguments.
    #[inline(always)]
    pub unsafe fn ask(self, module: &dyn Module, on: &mut dyn Executor) -> Result<()> {
        match self {
            Call::Barrier => module.barrier(on),
            // SAFETY: the caller's promise.
            Call::Bcast(a, b) => unsafe { module.bcast(a, b, on) },
            // SAFETY: the caller's promise.
            Call::Gather(a, b, c) => unsafe { module.gather(a, b, c, on) },
            // SAFETY: the caller's promise.
            Call::Gatherv(a, b, c) => unsafe { module.gatherv(a, b, c, on) },
            // SAFETY: the caller's promise.
            Call::Scatter(a, b, c) => unsafe { module.scatter(a, b, c, on) },
            // SAFETY: the caller's promise.
            Call::Scatterv(a, b, c) => unsafe { module.scatterv(a, b, c, on) },
            // SAFETY: the caller's promise.
            Call::Allgather(a, b) => unsafe { module.allgather(a, b, on) },
            // SAFETY: the caller's promise.
            Call::Allgatherv(a, b) => unsafe { module.allgatherv(a, b, on) },
            // SAFETY: the caller's promise.
            Call::Alltoall(a, b) => unsafe { module.alltoall(a, b, on) },
            // SAFETY: the caller's promise.
            Call::Alltoallv(a, b) => unsafe { module.alltoallv(a, b, on) },
            // SAFETY: the caller's promise.
            Call::Alltoallw(a, b) => unsafe { module.alltoallw(a, b, on) },
            // SAFETY: the caller's promise.
            Call::Reduce(a, b, c, d) => unsafe { module.reduce(a, b, c, d, on) },
            // SAFETY: the caller's promise.
            Call::Allreduce(a, b, c) => unsafe { module.allreduce(a, b, c, on) },
            // SAFETY: the caller's promise.
            Call::ReduceScatter(a, b, c, d) => unsafe { module.reduce_scatter(a, b, c, d, on) },
            // SAFETY: the caller's promise.
            Call::ReduceScatterBlock(a, b, c) => unsafe { module.reduce_scatter_block(a, b, c, on) },
            // SAFETY: the caller's promise.
            Call::Scan(a, b, c) => unsafe { module.scan(a, b, c, on) },
            // SAFETY: the caller's promise.
            Call::Exscan(a, b, c) => unsafe { module.exscan(a, b, c, on) },
            // SAFETY: the caller's promise.
            Call::NeighborAllgather(a, b, c) => unsafe { module.neighbor_allgather(a, b, c, on) },
            // SAFETY: the caller's promise.
            Call::NeighborAllgatherv(a, b, c) => unsafe { module.neighbor_allgatherv(a, b, c, on) },
            // SAFETY: the caller's promise.
            Call::NeighborAlltoall(a, b, c) => unsafe { module.neighbor_alltoall(a, b, c, on) },
            // SAFETY: the caller's promise.
            Call::NeighborAlltoallv(a, b, c) => unsafe { module.neighbor_alltoallv(a, b, c, on) },
            // SAFETY: the caller's promise.
            Call::NeighborAlltoallw(a, b, c) => unsafe { module.neighbor_alltoallw(a, b, c, on) },
        }
    }
}
