//! MPI_Allreduce of medium and large data: pieces are combined at one rank each and passed to the others, so that all
//! ranks have the same bits.

use crate::bcast::part;
use alloc::vec::Vec;
use ompi_core::data::{Data, Source, no_room};
use ompi_core::error::Result;
use ompi_core::executor::{Executor, Fold};
use ompi_core::op::Op;

/// Around a ring, once to combine and once to tell. For operations that commute.
///
/// Patarasuk, Yuan: Bandwidth optimal all-reduce algorithms, <https://doi.org/10.1016/j.jpdc.2008.09.002>.
pub fn ring<E: Executor + ?Sized>(executor: &mut E, from: Source<'_>, to: &Data<'_>, op: &Op) -> Result<()> {
    op.check(to.datatype)?;
    if let Source::From(own) = from {
        executor.copy(&own, to)?;
    }
    let (rank, size) = (executor.rank(), executor.size());
    let (right, left) = ((rank + 1) % size, (rank + size - 1) % size);
    let piece = |index: usize| part(to, index % size, index % size + 1, size);
    let scratch = executor.scratch(&part(to, 0, 1, size))?;
    for step in 0..size - 1 {
        let (out, into) = (piece(rank + size - step), piece(rank + 2 * size - step - 1));
        let other = Data { count: into.count, ..scratch };
        executor.exchange(&out, right, &other, left)?;
        executor.reduce(op, &other, &into)?;
    }
    // Now this rank holds the piece after its own.
    for step in 0..size - 1 {
        let (out, into) = (piece(rank + size + 1 - step), piece(rank + size - step));
        executor.exchange(&out, right, &into, left)?;
    }
    Ok(())
}

/// Partners exchange halves of what both still have to combine, then the way back. Groups of neighbouring ranks grow, so
/// that operands meet in rank order and any operation will do. What exceeds a power of two is folded into its neighbour
/// before and gets the result after.
///
/// Rabenseifner: Optimization of collective reduction operations, <https://doi.org/10.1007/978-3-540-24685-5_1>.
pub fn halving<E: Executor + ?Sized>(executor: &mut E, from: Source<'_>, to: &Data<'_>, op: &Op) -> Result<()> {
    op.check(to.datatype)?;
    if let Source::From(own) = from {
        executor.copy(&own, to)?;
    }
    let Some(mut fold) = Fold::begin(executor, to, op)? else { return Ok(()) };
    let mut halves = Vec::new();
    halves.try_reserve_exact(fold.actives.ilog2() as usize).map_err(|_| no_room(size_of_val(&*halves)))?;
    let mut whole = (0, to.count);
    for bit in (0..fold.actives.ilog2()).map(|bit| 1usize << bit) {
        let partner = fold.active ^ bit;
        let middle = whole.0 + (whole.1 - whole.0) / 2;
        let (lower, upper) = ((whole.0, middle), (middle, whole.1));
        let (keep, give) = if fold.active < partner { (lower, upper) } else { (upper, lower) };
        let peer = fold.rank_of(partner);
        executor.exchange(&segment(&fold.sum, give), peer, &segment(&fold.other, keep), peer)?;
        if partner < fold.active || op.is_commutative() {
            executor.reduce(op, &segment(&fold.other, keep), &segment(&fold.sum, keep))?;
        } else {
            executor.reduce(op, &segment(&fold.sum, keep), &segment(&fold.other, keep))?;
            fold.swap();
        }
        halves.push((peer, keep, give));
        whole = keep;
    }
    for (peer, keep, give) in halves.into_iter().rev() {
        executor.exchange(&segment(&fold.sum, keep), peer, &segment(&fold.sum, give), peer)?;
    }
    fold.end(executor, to)
}

fn segment<'a>(of: &Data<'a>, (from, to): (usize, usize)) -> Data<'a> {
    of.at_element(from as isize, to - from)
}
