//! MPI_Reduce_scatter and MPI_Reduce_scatter_block: rank 0 reduces and hands out.

use crate::{reduce, scatter};
use ompi_core::data::{Counts, Data, Source};
use ompi_core::error::{Class, Fault, Result};
use ompi_core::executor::Executor;
use ompi_core::op::Op;

/// `to.count` is this rank's; `counts` has one entry per rank.
pub fn reduce_scatter<E: Executor + ?Sized>(
    executor: &mut E,
    from: Source<'_>,
    to: &Data<'_>,
    counts: Counts<'_>,
    op: &Op,
) -> Result<()> {
    through_zero(executor, from, to, |rank| counts.count(rank), op)
}

/// `to.count` elements for every rank.
pub fn reduce_scatter_block<E: Executor + ?Sized>(
    executor: &mut E,
    from: Source<'_>,
    to: &Data<'_>,
    op: &Op,
) -> Result<()> {
    through_zero(executor, from, to, |_| to.count, op)
}

fn through_zero<E: Executor + ?Sized>(
    executor: &mut E,
    from: Source<'_>,
    to: &Data<'_>,
    count: impl Fn(usize) -> usize,
    op: &Op,
) -> Result<()> {
    op.check(to.datatype)?;
    let too_many = || Fault::new(Class::Count).because("the counts of all ranks together exceed the address space");
    let sum = |ranks: core::ops::Range<usize>| ranks.map(&count).try_fold(0usize, usize::checked_add);
    let total = sum(0..executor.size()).filter(|total| *total <= isize::MAX as usize).ok_or_else(too_many)?;
    // With MPI_IN_PLACE the contribution lies in `to`, for all ranks' elements.
    let whole = match from {
        Source::From(from) => Data { count: total, ..from },
        Source::InPlace => Data { count: total, ..*to },
    };
    if total == 0 {
        return Ok(());
    }
    let result = if executor.rank() == 0 { Some(executor.scratch(&whole)?) } else { None };
    reduce::reduce(executor, Source::From(whole), result.as_ref(), op, 0)?;
    let block = |rank: usize| {
        let before = sum(0..rank).unwrap_or(0);
        result.map(|result| result.at_element(before as isize, count(rank)))
    };
    scatter::linear(executor, result.is_some().then_some(|rank| block(rank).unwrap_or(*to)), Some(to), 0)
}
