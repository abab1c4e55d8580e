//! Reductions over turns. Operands meet in rank order, as MPI 5.0 §6.9.1 orders them, so that equal calls have equal results
//! on all ranks, whoever was last.

use crate::flags::data_movement::{contribution, packed};
use crate::flags::epoch::Turn;
use crate::raw::{copy, load, store};
use ompi_core::data::{Counts, Data, Source};
use ompi_core::error::Result;
use ompi_core::executor::Executor;
use ompi_core::op::Op;

/// MPI_Reduce: `to` at the root.
pub fn reduce(
    turn: &Turn<'_>,
    executor: &mut dyn Executor,
    from: Source<'_>,
    to: Option<&Data<'_>>,
    op: &Op,
) -> Result<()> {
    let Some(to) = to else {
        let Source::From(from) = from else { return Ok(()) };
        let copied = store(executor, &from, turn.own(), from.bytes());
        turn.post();
        return copied;
    };
    let copied = store(executor, &contribution(from, *to), turn.own(), to.bytes());
    turn.wait()?;
    let folded = fold(turn, executor, (to, 0), op);
    turn.finish();
    copied.and(folded)
}

/// MPI_Allreduce: with two ranks both combine, else the last one to come does so for all.
pub fn allreduce(turn: &Turn<'_>, executor: &mut dyn Executor, from: Source<'_>, to: &Data<'_>, op: &Op) -> Result<()> {
    let copied = store(executor, &contribution(from, *to), turn.own(), to.bytes());
    if turn.is_pair() {
        turn.meet()?;
        return copied.and(fold(turn, executor, (to, 0), op));
    }
    let result = turn.result(to.bytes());
    if turn.arrive() {
        let folded = fold(turn, executor, (to, 0), op);
        let told = store(executor, to, result, to.bytes());
        turn.release();
        return copied.and(folded).and(told);
    }
    turn.wait()?;
    copied.and(load(executor, result, to))
}

/// MPI_Reduce_scatter and MPI_Reduce_scatter_block: each rank combines its own block, which begins after so many elements.
pub fn reduce_scatter(
    turn: &Turn<'_>,
    executor: &mut dyn Executor,
    (from, to, op): (Source<'_>, &Data<'_>, &Op),
    (before, all): (usize, usize),
) -> Result<()> {
    let whole = Data { count: all, ..contribution(from, *to) };
    let copied = store(executor, &whole, turn.own(), whole.bytes());
    turn.meet()?;
    let folded = match to.count {
        0 => Ok(()),
        _ => fold(turn, executor, (to, before * to.datatype.layout.size()), op),
    };
    copied.and(folded)
}

/// MPI_Scan, or MPI_Exscan, which leaves this rank's own data out: each combines what those before it have, in one step. Only
/// who waits for somebody waits; passing sums on from rank to rank would be as many steps as there are ranks.
pub fn scan(
    turn: &Turn<'_>,
    executor: &mut dyn Executor,
    (from, to, op): (Source<'_>, &Data<'_>, &Op),
    is_exclusive: bool,
) -> Result<()> {
    let (rank, bytes) = (turn.rank(), to.bytes());
    let mut copied = Ok(());
    if rank + 1 < turn.size() {
        copied = store(executor, &contribution(from, *to), turn.own(), bytes);
        turn.post();
    }
    let mut operands = Operands::new(executor, to)?;
    let mut before = (0..rank).rev();
    if is_exclusive {
        let Some(nearest) = before.next() else { return copied };
        turn.wait_for(nearest)?;
        copied = copied.and(load(executor, turn.of(nearest), to));
    } else if let Source::From(from) = from {
        copied = copied.and(copy(executor, &from, to));
    }
    for peer in before {
        turn.wait_for(peer)?;
        copied = copied.and(operands.meet(executor, op, turn.of(peer)));
    }
    copied
}

/// How many elements of MPI_Reduce_scatter there are before a rank's block, and in all.
pub fn extent(counts: Counts<'_>, rank: usize, size: usize) -> (usize, usize) {
    let before = (0..rank).map(|rank| counts.count(rank)).sum();
    (before, (rank..size).fold(before, |all, rank| all.saturating_add(counts.count(rank))))
}

/// Everybody's data, from so many bytes on, combined from the last rank to the first.
fn fold(turn: &Turn<'_>, executor: &mut dyn Executor, (into, from): (&Data<'_>, usize), op: &Op) -> Result<()> {
    let last = turn.size() - 1;
    load(executor, turn.of(last).wrapping_add(from), into)?;
    let mut operands = Operands::new(executor, into)?;
    (0..last).rev().try_for_each(|peer| operands.meet(executor, op, turn.of(peer).wrapping_add(from)))
}

// What comes before a sum and lies packed in shared memory.
struct Operands<'a> {
    sum: Data<'a>,
    // Where it is spread out first, if elements do not lie there as they do in the sum.
    room: Option<Data<'a>>,
}

impl<'a> Operands<'a> {
    fn new(executor: &mut dyn Executor, sum: &Data<'a>) -> Result<Operands<'a>> {
        let as_it_lies = sum.datatype.is_predefined() && sum.contiguous() == Some(sum.at);
        let room = if as_it_lies { None } else { Some(executor.room(sum)?) };
        Ok(Operands { sum: *sum, room })
    }

    fn meet(&mut self, executor: &mut dyn Executor, op: &Op, at: *mut u8) -> Result<()> {
        match &self.room {
            None => executor.reduce(op, &Data { at, ..self.sum }, &self.sum),
            Some(room) => {
                executor.copy(&packed(at, room.bytes()), room)?;
                executor.reduce(op, room, &self.sum)
            }
        }
    }
}
