//! MPI_Allreduce by recursive doubling.

use ompi_core::data::{Data, Source};
use ompi_core::error::Result;
use ompi_core::executor::{Executor, Fold};
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
    if executor.size() == 1 {
        return Ok(());
    }
    let Some(mut fold) = Fold::begin(executor, to, op)? else { return Ok(()) };
    for bit in (0..fold.actives.ilog2()).map(|bit| 1usize << bit) {
        let partner = fold.active ^ bit;
        let peer = fold.rank_of(partner);
        executor.exchange(&fold.sum, peer, &fold.other, peer)?;
        if partner < fold.active {
            executor.reduce(op, &fold.other, &fold.sum)?;
        } else {
            executor.reduce(op, &fold.sum, &fold.other)?;
            fold.swap();
        }
    }
    fold.end(executor, to)
}
