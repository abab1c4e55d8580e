//! The module: turns the framework's unsafe calls into calls of the algorithms.
#![allow(unsafe_code)] // the unsafe method of the framework's trait

use crate::{allgather, allreduce, alltoall, barrier, bcast, gather, neighbor, reduce, reduce_scatter, scan, scatter};
use ompi_core::error::Result;
use ompi_core::executor::Executor;
use ompi_core::framework::coll::{ALL_FUNCTIONS, Call, Functions, Module, NEIGHBOR_FUNCTIONS};

/// The same for every communicator.
pub struct Basic;

impl Module for Basic {
    fn functions(&self) -> Functions {
        ALL_FUNCTIONS | NEIGHBOR_FUNCTIONS
    }

    fn partial(&self) -> Functions {
        ALL_FUNCTIONS
    }

    // The algorithms pass parts of their arguments and of the executor's scratch memory to the executor, and touch
    // nothing else.
    unsafe fn call(&self, call: &Call<'_>, executor: &mut dyn Executor) -> Result<()> {
        match *call {
            Call::Barrier => barrier::barrier(executor),
            Call::Bcast(data, root) => bcast::bcast(executor, data, root),
            Call::Gather(from, to, root) => gather::gather(executor, from, to, root),
            Call::Gatherv(from, to, root) => gather::gatherv(executor, from, to, root),
            Call::Scatter(from, to, root) => scatter::scatter(executor, from, to, root),
            Call::Scatterv(from, to, root) => scatter::scatterv(executor, from, to, root),
            Call::Allgather(from, to) => allgather::allgather(executor, from, to),
            Call::Allgatherv(from, to) => allgather::allgatherv(executor, from, to),
            Call::Alltoall(from, to) => alltoall::alltoall(executor, from, to),
            Call::Alltoallv(from, to) => alltoall::alltoallv(executor, from, to),
            Call::Alltoallw(from, to) => alltoall::alltoallw(executor, from, to),
            Call::Reduce(from, to, op, root) => reduce::reduce(executor, from, to, op, root),
            Call::Allreduce(from, to, op) => allreduce::allreduce(executor, from, to, op),
            Call::ReduceScatter(from, to, counts, op) => reduce_scatter::reduce_scatter(executor, from, to, counts, op),
            Call::ReduceScatterBlock(from, to, op) => reduce_scatter::reduce_scatter_block(executor, from, to, op),
            Call::Scan(from, to, op) => scan::scan(executor, from, to, op),
            Call::Exscan(from, to, op) => scan::exscan(executor, from, to, op),
            Call::NeighborAllgather(from, to, among) => neighbor::allgather(executor, from, to, among),
            Call::NeighborAllgatherv(from, to, among) => neighbor::allgatherv(executor, from, to, among),
            Call::NeighborAlltoall(from, to, among) => neighbor::alltoall(executor, from, to, among),
            Call::NeighborAlltoallv(from, to, among) => neighbor::alltoallv(executor, from, to, among),
            Call::NeighborAlltoallw(from, to, among) => neighbor::alltoallw(executor, from, to, among),
        }
    }
}
