//! Reductions through the segment. Operands are combined in rank order (MPI 5.0 §6.9.1), so that equal calls have equal
//! results on all ranks, whichever rank came last.

use crate::buffer::{contribution, lies_packed, others, packed, share};
use crate::flags::epoch::Epoch;
use crate::flags::layout;
use crate::flags::rank_words;
use crate::flags::segment::{Pattern, Team};
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

/// MPI_Allreduce: ranks that wait for each other's flags combine all of it, each for itself; else the last one to come does so for
/// all.
pub fn allreduce(
    epoch: &Epoch<'_>,
    executor: &mut dyn Executor,
    from: Source<'_>,
    to: &Data<'_>,
    op: &Op,
) -> Result<()> {
    let copied = store(executor, &contribution(from, *to), epoch.own_slot(), to.bytes());
    if epoch.is_pair() || epoch.has_rank_flags() {
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

/// Whether each rank combines a part of the elements rather than all of them, or than the root all alone: a second epoch then costs less than
/// what each would read.
#[inline(always)]
pub fn goes_in_parts((segment, _): Team<'_>, bytes: usize, root: Option<usize>) -> bool {
    let from = if root.is_some() { ROOT_ALONE } else { layout::slot_bytes(segment.size) / segment.size };
    segment.by_flags && segment.size > 2 && bytes > from
}

/// MPI_Allreduce, or MPI_Reduce with its target at the root: each rank combines a part of the elements, and whoever gets the result
/// collects the parts.
#[inline(never)]
pub fn reduce_in_parts(
    (segment, peers): Team<'_>,
    executor: &mut dyn Executor,
    (from, to, op): (Source<'_>, Option<&Data<'_>>, &Op),
    root: Option<usize>,
) -> Result<()> {
    let (rank, size) = (segment.rank, segment.size);
    let own = match (from, to) {
        (Source::From(from), _) => from,
        (Source::InPlace, Some(to)) => *to,
        (Source::InPlace, None) => return Ok(()),
    };
    let bytes = own.bytes();
    let element = own.datatype.layout.size();
    let epoch = Epoch::begin(segment, peers, Pattern::AllToAll, bytes)?;
    let mut done = store(executor, &own, epoch.own_slot(), bytes);
    epoch.barrier()?;
    let mine = share(&own, rank, size);
    let sum = match to {
        Some(to) => share(to, rank, size),
        None => executor.scratch(&mine)?,
    };
    if sum.count > 0 {
        let before = share(&own, 0, size).count * rank;
        done = done.and(fold(&epoch, executor, (&sum, before * element), op));
    }
    let pattern = root.map_or(Pattern::AllToAll, Pattern::AllToOne);
    let epoch = Epoch::begin(segment, peers, pattern, share(&own, 0, size).bytes())?;
    let reads = root.is_none_or(|root| root == rank);
    if root != Some(rank) {
        done = done.and(store(executor, &sum, epoch.own_slot(), sum.bytes()));
        epoch.signal();
    }
    let Some(to) = to.filter(|_| reads) else { return done };
    epoch.wait()?;
    for peer in others(rank, size) {
        let into = share(to, peer, size);
        if into.count > 0 {
            done = done.and(load(executor, epoch.slot(peer), &into));
        }
    }
    done
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
    let by_words = rank >= SCAN_WORDS && rank_words::serves(epoch, to);
    if rank + 1 < epoch.size() || by_words {
        copied = store(executor, &contribution(from, *to), epoch.own_slot(), bytes);
        epoch.signal();
    }
    if by_words {
        (0..rank).rev().try_for_each(|peer| epoch.wait_for(peer))?;
        let last = rank + usize::from(!is_exclusive);
        return copied.and(rank_words::combine(epoch, executor, (0..last, to), op));
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

/// All ranks' data, from byte `from` on, combined from the last rank to the first, or as `rank_words` does.
fn fold(epoch: &Epoch<'_>, executor: &mut dyn Executor, (into, from): (&Data<'_>, usize), op: &Op) -> Result<()> {
    if from == 0 && rank_words::serves(epoch, into) {
        return rank_words::combine(epoch, executor, (0..epoch.size(), into), op);
    }
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

/// Bytes up to which the root combines alone: other ranks go on meanwhile.
const ROOT_ALONE: usize = 1 << 10;
/// The first rank of a scan that combines words in pairs: for fewer words the pairs cost more than they save.
const SCAN_WORDS: usize = 7;
