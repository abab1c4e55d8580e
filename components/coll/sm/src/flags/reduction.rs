//! Reductions through the segment. Operands are combined in rank order (MPI 5.0 §6.9.1), so that equal calls have equal
//! results on all ranks, whichever rank came last.

use crate::buffer::{contribution, lies_packed, packed};
use crate::flags::epoch::Epoch;
use crate::raw::{copy, load, store};
use ompi_core::data::{Counts, Data, Source};
use ompi_core::error::Result;
use ompi_core::executor::Executor;
use ompi_core::op::Op;

/// MPI_Reduce: `to` at the root.
pub fn reduce(
    epoch: &Epoch<'_>,
    executor: &mut dyn Executor,
    from: Source<'_>,
    to: Option<&Data<'_>>,
    op: &Op,
) -> Result<()> {
    let Some(to) = to else {
        let Source::From(from) = from else { return Ok(()) };
        let copied = store(executor, &from, epoch.own_slot(), from.bytes());
        epoch.signal();
        return copied;
    };
    let copied = store(executor, &contribution(from, *to), epoch.own_slot(), to.bytes());
    epoch.wait()?;
    let folded = fold(epoch, executor, (to, 0), op);
    epoch.acknowledge();
    copied.and(folded)
}

/// MPI_Allreduce: two ranks both combine, of more the last one to come does so for all.
pub fn allreduce(
    epoch: &Epoch<'_>,
    executor: &mut dyn Executor,
    from: Source<'_>,
    to: &Data<'_>,
    op: &Op,
) -> Result<()> {
    let copied = store(executor, &contribution(from, *to), epoch.own_slot(), to.bytes());
    if epoch.is_pair() {
        epoch.barrier()?;
        return copied.and(fold(epoch, executor, (to, 0), op));
    }
    let result = epoch.result(to.bytes());
    if epoch.arrive() {
        let folded = fold(epoch, executor, (to, 0), op);
        let stored = store(executor, to, result, to.bytes());
        epoch.release();
        return copied.and(folded).and(stored);
    }
    epoch.wait()?;
    copied.and(load(executor, result, to))
}

/// MPI_Reduce_scatter and MPI_Reduce_scatter_block: each rank combines its own block, which begins after `before` of `all`
/// elements.
pub fn reduce_scatter(
    epoch: &Epoch<'_>,
    executor: &mut dyn Executor,
    (from, to, op): (Source<'_>, &Data<'_>, &Op),
    (before, all): (usize, usize),
) -> Result<()> {
    let whole = Data { count: all, ..contribution(from, *to) };
    let copied = store(executor, &whole, epoch.own_slot(), whole.bytes());
    epoch.barrier()?;
    let folded = match to.count {
        0 => Ok(()),
        _ => fold(epoch, executor, (to, before * to.datatype.layout.size()), op),
    };
    copied.and(folded)
}

/// MPI_Scan, or MPI_Exscan, which leaves this rank's own data out: each rank combines the data of those before it, in one
/// step. Passing sums on from rank to rank would be as many steps as there are ranks.
pub fn scan(
    epoch: &Epoch<'_>,
    executor: &mut dyn Executor,
    (from, to, op): (Source<'_>, &Data<'_>, &Op),
    is_exclusive: bool,
) -> Result<()> {
    let (rank, bytes) = (epoch.rank(), to.bytes());
    let mut copied = Ok(());
    if rank + 1 < epoch.size() {
        copied = store(executor, &contribution(from, *to), epoch.own_slot(), bytes);
        epoch.signal();
    }
    let mut sum = Accumulator::new(executor, to)?;
    let mut before = (0..rank).rev();
    if is_exclusive {
        let Some(nearest) = before.next() else { return copied };
        epoch.wait_for(nearest)?;
        copied = copied.and(load(executor, epoch.slot(nearest), to));
    } else if let Source::From(from) = from {
        copied = copied.and(copy(executor, &from, to));
    }
    for peer in before {
        epoch.wait_for(peer)?;
        copied = copied.and(sum.combine(executor, op, epoch.slot(peer)));
    }
    copied
}

/// Elements of MPI_Reduce_scatter before a rank's block, and in all.
pub fn elements(counts: Counts<'_>, rank: usize, size: usize) -> (usize, usize) {
    let before = (0..rank).map(|rank| counts.count(rank)).sum();
    (before, (rank..size).fold(before, |all, rank| all.saturating_add(counts.count(rank))))
}

/// All ranks' data, from byte `from` on, combined from the last rank to the first.
fn fold(epoch: &Epoch<'_>, executor: &mut dyn Executor, (into, from): (&Data<'_>, usize), op: &Op) -> Result<()> {
    let last = epoch.size() - 1;
    load(executor, epoch.slot(last).wrapping_add(from), into)?;
    let mut sum = Accumulator::new(executor, into)?;
    (0..last).rev().try_for_each(|peer| sum.combine(executor, op, epoch.slot(peer).wrapping_add(from)))
}

// A sum in this rank's buffer, to which operands are added that lie packed in the segment.
struct Accumulator<'a> {
    sum: Data<'a>,
    // For an unpacked operand, if elements do not lie packed in the sum.
    scratch: Option<Data<'a>>,
}

impl<'a> Accumulator<'a> {
    fn new(executor: &mut dyn Executor, sum: &Data<'a>) -> Result<Accumulator<'a>> {
        let scratch = if lies_packed(sum) { None } else { Some(executor.scratch(sum)?) };
        Ok(Accumulator { sum: *sum, scratch })
    }

    fn combine(&mut self, executor: &mut dyn Executor, op: &Op, at: *mut u8) -> Result<()> {
        match &self.scratch {
            None => executor.reduce(op, &Data { at, ..self.sum }, &self.sum),
            Some(scratch) => {
                executor.copy(&packed(at, scratch.bytes()), scratch)?;
                executor.reduce(op, scratch, &self.sum)
            }
        }
    }
}
