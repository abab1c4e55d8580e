//! MPI_Allreduce by recursive doubling.

use ompi_core::data::{Data, Source};
use ompi_core::error::Result;
use ompi_core::executor::Executor;
use ompi_core::op::Op;

/// Both partners of every exchange compute `lower op higher` of the same two values, so that all ranks have the same
/// bits and operands meet in rank order. What exceeds a power of two is folded into its neighbour before and gets the
/// result after.
pub fn allreduce<E: Executor + ?Sized>(executor: &mut E, from: Source<'_>, to: &Data<'_>, op: &Op) -> Result<()> {
    op.check(to.datatype)?;
    if to.count == 0 {
        return Ok(());
    }
    if let Source::From(own) = from {
        executor.copy(&own, to)?;
    }
    let (rank, size) = (executor.rank(), executor.size());
    if size == 1 {
        return Ok(());
    }
    let power = 1usize << size.ilog2();
    let folded = size - power;
    // Of the first 2·folded ranks the odd ones take no part in the doubling.
    if rank < 2 * folded && rank % 2 == 1 {
        executor.send(to, rank - 1)?;
        return executor.recv(to, rank - 1);
    }
    let (mut sum, mut other) = (*to, executor.room(to)?);
    if rank < 2 * folded {
        executor.recv(&other, rank + 1)?;
        executor.reduce(op, &sum, &other)?;
        (sum, other) = (other, sum);
    }
    let active = if rank < 2 * folded { rank / 2 } else { rank - folded };
    let absolute = |active: usize| if active < folded { 2 * active } else { active + folded };
    for bit in (0..size.ilog2()).map(|bit| 1usize << bit) {
        let partner = active ^ bit;
        executor.exchange(&sum, absolute(partner), &other, absolute(partner))?;
        if partner < active {
            executor.reduce(op, &other, &sum)?;
        } else {
            executor.reduce(op, &sum, &other)?;
            (sum, other) = (other, sum);
        }
    }
    if rank < 2 * folded {
        executor.send(&sum, rank + 1)?;
    }
    if sum.at != to.at { executor.copy(&sum, to) } else { Ok(()) }
}
