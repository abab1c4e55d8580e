//! MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw: everyone to everyone at once.

use alloc::vec::Vec;
use ompi_core::data::{Blocks, Data, Source, TypedBlocks, no_room};
use ompi_core::error::Result;
use ompi_core::executor::Executor;

/// Both: `count` elements per rank.
pub fn alltoall<E: Executor + ?Sized>(executor: &mut E, from: Source<'_>, to: &Data<'_>) -> Result<()> {
    let part = |whole: &Data<'_>, rank: usize| (rank * whole.count) as isize;
    let from = match from {
        Source::From(from) => Some(from),
        Source::InPlace => None,
    };
    exchange(executor, from.map(|from| move |rank| from.at_element(part(&from, rank), from.count)), |rank| {
        to.at_element(part(to, rank), to.count)
    })
}

/// A block per rank; `from` is `None` for MPI_IN_PLACE.
pub fn alltoallv<E: Executor + ?Sized>(executor: &mut E, from: Option<&Blocks<'_>>, to: &Blocks<'_>) -> Result<()> {
    exchange(executor, from.map(|from| |rank| from.block(rank)), |rank| to.block(rank))
}

/// A block of its own type per rank; `from` is `None` for MPI_IN_PLACE.
pub fn alltoallw<E: Executor + ?Sized>(
    executor: &mut E,
    from: Option<&TypedBlocks<'_>>,
    to: &TypedBlocks<'_>,
) -> Result<()> {
    exchange(executor, from.map(|from| |rank| from.block(rank)), |rank| to.block(rank))
}

/// Every rank begins with its neighbour, so that not all turn to rank 0 first.
fn exchange<'a, 'b, E: Executor + ?Sized>(
    executor: &mut E,
    from: Option<impl Fn(usize) -> Data<'a>>,
    to: impl Fn(usize) -> Data<'b>,
) -> Result<()> {
    let (rank, size) = (executor.rank(), executor.size());
    let others = |step: usize| ((rank + step) % size, (rank + size - step) % size);
    let Some(from) = from else {
        return exchange_in_place(executor, to);
    };
    for step in 1..size {
        let (_, source) = others(step);
        executor.start_recv(&to(source), source)?;
    }
    for step in 1..size {
        let (dest, _) = others(step);
        executor.start_send(&from(dest), dest)?;
    }
    executor.copy(&from(rank), &to(rank))?;
    executor.finish()
}

/// What is sent lies where the answer goes: it moves aside first (MPI 5.0 §6.8: counts and types are those of `to`).
fn exchange_in_place<'b, E: Executor + ?Sized>(executor: &mut E, to: impl Fn(usize) -> Data<'b>) -> Result<()> {
    let (rank, size) = (executor.rank(), executor.size());
    let mut aside = Vec::new();
    aside.try_reserve_exact(size).map_err(|_| no_room(size * size_of::<Data<'_>>()))?;
    for step in 1..size {
        let dest = (rank + step) % size;
        let (block, scratch) = (to(dest), executor.scratch(&to(dest))?);
        executor.copy(&block, &scratch)?;
        aside.push((dest, scratch));
    }
    for (source, _) in &aside {
        executor.start_recv(&to(*source), *source)?;
    }
    for (dest, scratch) in &aside {
        executor.start_send(scratch, *dest)?;
    }
    executor.finish()
}
