//! MPI_Scan and MPI_Exscan by doubling.

use ompi_core::data::{Data, Source};
use ompi_core::error::Result;
use ompi_core::executor::Executor;
use ompi_core::op::Op;

/// Rank r gets the combination of ranks 0 to r.
pub fn scan<E: Executor + ?Sized>(executor: &mut E, from: Source<'_>, to: &Data<'_>, op: &Op) -> Result<()> {
    op.check(to.datatype)?;
    if to.count == 0 {
        return Ok(());
    }
    if let Source::From(own) = from {
        executor.copy(&own, to)?;
    }
    doubling(executor, *to, to, true, op)
}

/// Rank r gets the combination of ranks 0 to r - 1; rank 0's buffer stays as it is (MPI 5.0 §6.11.2).
pub fn exscan<E: Executor + ?Sized>(executor: &mut E, from: Source<'_>, to: &Data<'_>, op: &Op) -> Result<()> {
    op.check(to.datatype)?;
    if to.count == 0 {
        return Ok(());
    }
    let own = match from {
        Source::From(own) => own,
        Source::InPlace => *to,
    };
    doubling(executor, own, to, false, op)
}

/// Before round k `sum` is the combination of the aligned group of 2^k ranks around this one, `to` that of its part up
/// to this rank, with or without it. Partners exchange their groups' sums.
fn doubling<E: Executor + ?Sized>(
    executor: &mut E,
    own: Data<'_>,
    to: &Data<'_>,
    mut filled: bool,
    op: &Op,
) -> Result<()> {
    let (rank, size) = (executor.rank(), executor.size());
    if size == 1 {
        return Ok(());
    }
    let (mut sum, mut other) = (executor.scratch(to)?, executor.scratch(to)?);
    executor.copy(&own, &sum)?;
    for bit in (0..usize::BITS).map(|bit| 1usize << bit).take_while(|bit| *bit < size) {
        let partner = rank ^ bit;
        // A group without a partner is the last one and incomplete: nobody after it needs its sum.
        if partner >= size {
            continue;
        }
        executor.exchange(&sum, partner, &other, partner)?;
        if partner > rank {
            executor.reduce(op, &sum, &other)?;
            (sum, other) = (other, sum);
            continue;
        }
        if filled {
            executor.reduce(op, &other, to)?;
        } else {
            executor.copy(&other, to)?;
            filled = true;
        }
        executor.reduce(op, &other, &sum)?;
    }
    Ok(())
}
