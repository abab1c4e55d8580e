//! MPI_Neighbor_allgather(v) and MPI_Neighbor_alltoall(v, w): all neighbours at once.
//!
//! All messages of an operation carry one tag, and those between the same two processes arrive in order. So several edges
//! between two processes are told apart by the order in which both start them, and both must mean the same order.

use ompi_core::data::{Blocks, Data, TypedBlocks};
use ompi_core::error::Result;
use ompi_core::executor::Executor;
use ompi_core::status::PROC_NULL;
use ompi_core::topo::Neighbors;

/// The same data to every destination; `to`: `count` elements per source.
pub fn allgather<E: Executor + ?Sized>(
    executor: &mut E,
    from: &Data<'_>,
    to: &Data<'_>,
    among: &Neighbors,
) -> Result<()> {
    exchange(executor, among, |_| *from, |source| to.at_element((source * to.count) as isize, to.count))
}

/// The same data to every destination; `to`: a block per source.
pub fn allgatherv<E: Executor + ?Sized>(
    executor: &mut E,
    from: &Data<'_>,
    to: &Blocks<'_>,
    among: &Neighbors,
) -> Result<()> {
    exchange(executor, among, |_| *from, |source| to.block(source))
}

/// `count` elements for every destination and from every source.
pub fn alltoall<E: Executor + ?Sized>(
    executor: &mut E,
    from: &Data<'_>,
    to: &Data<'_>,
    among: &Neighbors,
) -> Result<()> {
    let part = |whole: &Data<'_>, index: usize| (index * whole.count) as isize;
    exchange(
        executor,
        among,
        |destination| from.at_element(part(from, destination), from.count),
        |source| to.at_element(part(to, source), to.count),
    )
}

/// A block for every destination and from every source.
pub fn alltoallv<E: Executor + ?Sized>(
    executor: &mut E,
    from: &Blocks<'_>,
    to: &Blocks<'_>,
    among: &Neighbors,
) -> Result<()> {
    exchange(executor, among, |destination| from.block(destination), |source| to.block(source))
}

/// A block of its own type for every destination and from every source.
pub fn alltoallw<E: Executor + ?Sized>(
    executor: &mut E,
    from: &TypedBlocks<'_>,
    to: &TypedBlocks<'_>,
    among: &Neighbors,
) -> Result<()> {
    exchange(executor, among, |destination| from.block(destination), |source| to.block(source))
}

/// Sends in the order in which the other ends receive.
///
/// In a grid what goes in the positive direction is received from the negative one, whose block stands first: where both
/// directions lead to the same process, it is also sent first (MPI 5.0 §8.6). In graphs the k-th edge to a process is the
/// k-th from it at the other end.
fn exchange<'a, 'b, E: Executor + ?Sized>(
    executor: &mut E,
    among: &Neighbors,
    from: impl Fn(usize) -> Data<'a>,
    to: impl Fn(usize) -> Data<'b>,
) -> Result<()> {
    for (index, source) in among.sources.iter().enumerate() {
        if *source != PROC_NULL {
            executor.start_recv(&to(index), *source as usize)?;
        }
    }
    for turn in 0..among.destinations.len() {
        let index = if among.cartesian { turn ^ 1 } else { turn };
        let destination = among.destinations[index];
        if destination != PROC_NULL {
            executor.start_send(&from(index), destination as usize)?;
        }
    }
    executor.finish()
}
