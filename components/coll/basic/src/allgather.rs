//! MPI_Allgather and MPI_Allgatherv by a ring.

use ompi_core::data::{Blocks, Data, Source};
use ompi_core::error::Result;
use ompi_core::executor::Executor;

/// `to`: `count` elements per rank.
pub fn allgather<E: Executor + ?Sized>(executor: &mut E, from: Source<'_>, to: &Data<'_>) -> Result<()> {
    ring(executor, from, |rank| to.at_element((rank * to.count) as isize, to.count))
}

/// `to`: a block per rank.
pub fn allgatherv<E: Executor + ?Sized>(executor: &mut E, from: Source<'_>, to: &Blocks<'_>) -> Result<()> {
    ring(executor, from, |rank| to.block(rank))
}

/// In step k every rank passes on what it got in step k - 1, its own block at first.
fn ring<'a, E: Executor + ?Sized>(executor: &mut E, from: Source<'_>, block: impl Fn(usize) -> Data<'a>) -> Result<()> {
    let (rank, size) = (executor.rank(), executor.size());
    if let Source::From(own) = from {
        executor.copy(&own, &block(rank))?;
    }
    let (right, left) = ((rank + 1) % size, (rank + size - 1) % size);
    for step in 0..size - 1 {
        let (out, into) = ((rank + size - step) % size, (rank + size - step - 1) % size);
        executor.exchange(&block(out), right, &block(into), left)?;
    }
    Ok(())
}
