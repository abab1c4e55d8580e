//! The module: turns the framework's unsafe calls into calls of the algorithms.
#![allow(unsafe_code)]

use crate::{allgather, allreduce, alltoall, barrier, bcast, gather, neighbor, reduce, reduce_scatter, scan, scatter};
use ompi_core::data::{Blocks, Counts, Data, Source, TypedBlocks};
use ompi_core::error::Result;
use ompi_core::executor::Executor;
use ompi_core::framework::coll::{ALL_FUNCTIONS, Functions, Module, NEIGHBOR_FUNCTIONS};
use ompi_core::op::Op;
use ompi_core::topo::Neighbors;

/// The same for every communicator.
pub struct Basic;

// The algorithms pass parts of their arguments and of the executor's room to the executor, and touch nothing else.
macro_rules! offered {
    ($($name:ident($($argument:ident: $type:ty),*) => $algorithm:path;)*) => {
        $(unsafe fn $name(&self, $($argument: $type,)* executor: &mut dyn Executor) -> Result<()> {
            $algorithm(executor, $($argument),*)
        })*
    };
}

impl Module for Basic {
    fn functions(&self) -> Functions {
        ALL_FUNCTIONS | NEIGHBOR_FUNCTIONS
    }

    fn partial(&self) -> Functions {
        ALL_FUNCTIONS
    }

    fn barrier(&self, executor: &mut dyn Executor) -> Result<()> {
        barrier::barrier(executor)
    }

    offered! {
        bcast(data: &Data<'_>, root: usize) => bcast::bcast;
        gather(from: Source<'_>, to: Option<&Data<'_>>, root: usize) => gather::gather;
        gatherv(from: Source<'_>, to: Option<&Blocks<'_>>, root: usize) => gather::gatherv;
        scatter(from: Option<&Data<'_>>, to: Option<&Data<'_>>, root: usize) => scatter::scatter;
        scatterv(from: Option<&Blocks<'_>>, to: Option<&Data<'_>>, root: usize) => scatter::scatterv;
        allgather(from: Source<'_>, to: &Data<'_>) => allgather::allgather;
        allgatherv(from: Source<'_>, to: &Blocks<'_>) => allgather::allgatherv;
        alltoall(from: Source<'_>, to: &Data<'_>) => alltoall::alltoall;
        alltoallv(from: Option<&Blocks<'_>>, to: &Blocks<'_>) => alltoall::alltoallv;
        alltoallw(from: Option<&TypedBlocks<'_>>, to: &TypedBlocks<'_>) => alltoall::alltoallw;
        reduce(from: Source<'_>, to: Option<&Data<'_>>, op: &Op, root: usize) => reduce::reduce;
        allreduce(from: Source<'_>, to: &Data<'_>, op: &Op) => allreduce::allreduce;
        reduce_scatter(from: Source<'_>, to: &Data<'_>, counts: Counts<'_>, op: &Op) => reduce_scatter::reduce_scatter;
        reduce_scatter_block(from: Source<'_>, to: &Data<'_>, op: &Op) => reduce_scatter::reduce_scatter_block;
        scan(from: Source<'_>, to: &Data<'_>, op: &Op) => scan::scan;
        exscan(from: Source<'_>, to: &Data<'_>, op: &Op) => scan::exscan;
        neighbor_allgather(from: &Data<'_>, to: &Data<'_>, among: &Neighbors) => neighbor::allgather;
        neighbor_allgatherv(from: &Data<'_>, to: &Blocks<'_>, among: &Neighbors) => neighbor::allgatherv;
        neighbor_alltoall(from: &Data<'_>, to: &Data<'_>, among: &Neighbors) => neighbor::alltoall;
        neighbor_alltoallv(from: &Blocks<'_>, to: &Blocks<'_>, among: &Neighbors) => neighbor::alltoallv;
        neighbor_alltoallw(from: &TypedBlocks<'_>, to: &TypedBlocks<'_>, among: &Neighbors) => neighbor::alltoallw;
    }
}
