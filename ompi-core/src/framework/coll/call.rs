//! A collective operation as a value: the function with its arguments.

use super::function::Function;
use crate::data::{Blocks, Counts, Data, Source, TypedBlocks};
use crate::op::Op;
use crate::topo::Neighbors;

/// Which function, with its arguments in the order of the C function. On ranks where the standard ignores an argument it is
/// `None` or empty.
#[derive(Clone, Copy)]
#[allow(missing_docs)] // the standard documents them
pub enum Call<'a> {
    Barrier,
    Bcast(&'a Data<'a>, usize),
    /// The target, at the root: `count` elements per rank.
    Gather(Source<'a>, Option<&'a Data<'a>>, usize),
    Gatherv(Source<'a>, Option<&'a Blocks<'a>>, usize),
    /// The source, at the root: `count` elements per rank; the target is `None` for MPI_IN_PLACE at the root.
    Scatter(Option<&'a Data<'a>>, Option<&'a Data<'a>>, usize),
    Scatterv(Option<&'a Blocks<'a>>, Option<&'a Data<'a>>, usize),
    /// The target: `count` elements per rank.
    Allgather(Source<'a>, &'a Data<'a>),
    Allgatherv(Source<'a>, &'a Blocks<'a>),
    /// Both: `count` elements per rank.
    Alltoall(Source<'a>, &'a Data<'a>),
    /// The source is `None` for MPI_IN_PLACE.
    Alltoallv(Option<&'a Blocks<'a>>, &'a Blocks<'a>),
    Alltoallw(Option<&'a TypedBlocks<'a>>, &'a TypedBlocks<'a>),
    /// With `InPlace` (root only) the root's contribution lies in the target.
    Reduce(Source<'a>, Option<&'a Data<'a>>, &'a Op, usize),
    Allreduce(Source<'a>, &'a Data<'a>, &'a Op),
    /// The target's count is this rank's; the counts have one entry per rank.
    ReduceScatter(Source<'a>, &'a Data<'a>, Counts<'a>, &'a Op),
    /// The target's count is every rank's.
    ReduceScatterBlock(Source<'a>, &'a Data<'a>, &'a Op),
    Scan(Source<'a>, &'a Data<'a>, &'a Op),
    Exscan(Source<'a>, &'a Data<'a>, &'a Op),
    /// The target: `count` elements per source.
    NeighborAllgather(&'a Data<'a>, &'a Data<'a>, &'a Neighbors),
    /// The target: a block per source.
    NeighborAllgatherv(&'a Data<'a>, &'a Blocks<'a>, &'a Neighbors),
    /// `count` elements per destination and per source.
    NeighborAlltoall(&'a Data<'a>, &'a Data<'a>, &'a Neighbors),
    /// A block per destination and per source.
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

    /// How it combines data, if it does.
    pub fn op(&self) -> Option<&Op> {
        match self {
            Call::Reduce(_, _, op, _) | Call::ReduceScatter(_, _, _, op) => Some(op),
            Call::Allreduce(_, _, op)
            | Call::ReduceScatterBlock(_, _, op)
            | Call::Scan(_, _, op)
            | Call::Exscan(_, _, op) => Some(op),
            _ => None,
        }
    }
}
