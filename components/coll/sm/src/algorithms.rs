//! The operations, over turns.

#[cfg(all(test, loom))]
use crate::models::byte;
use crate::raw::copy;
use crate::turn::Turn;
use ompi_core::data::{Data, Source};
#[cfg(not(all(test, loom)))]
use ompi_core::datatype::byte;
use ompi_core::error::Result;
use ompi_core::executor::Executor;
use ompi_core::op::Op;

/// A run of bytes.
pub fn packed<'a>(at: *mut u8, bytes: usize) -> Data<'a> {
    Data { at, count: bytes, datatype: byte() }
}

/// What a rank contributes, which with MPI_IN_PLACE lies in `place`.
pub fn contribution<'a>(from: Source<'a>, place: Data<'a>) -> Data<'a> {
    match from {
        Source::From(from) => from,
        Source::InPlace => place,
    }
}

/// MPI_Bcast.
pub fn bcast(turn: &Turn<'_>, executor: &mut dyn Executor, data: &Data<'_>, root: usize) -> Result<()> {
    let bytes = data.bytes();
    if executor.rank() == root {
        let copied = copy(executor, data, &packed(turn.own(), bytes));
        turn.post();
        return copied;
    }
    turn.wait()?;
    let copied = copy(executor, &packed(turn.of(root), bytes), data);
    turn.finish();
    copied
}

/// MPI_Gather: `to` at the root.
pub fn gather(turn: &Turn<'_>, executor: &mut dyn Executor, from: Source<'_>, to: Option<&Data<'_>>) -> Result<()> {
    let (rank, size) = (executor.rank(), executor.size());
    let Some(to) = to else {
        let Source::From(from) = from else { return Ok(()) };
        let copied = copy(executor, &from, &packed(turn.own(), from.bytes()));
        turn.post();
        return copied;
    };
    turn.wait()?;
    let mut copied = Ok(());
    for peer in (0..size).filter(|peer| *peer != rank) {
        copied = copied.and(copy(executor, &packed(turn.of(peer), to.bytes()), &block(to, peer)));
    }
    turn.finish();
    if let Source::From(from) = from {
        copied = copied.and(copy(executor, &from, &block(to, rank)));
    }
    copied
}

/// MPI_Scatter: `from` at the root.
pub fn scatter(
    turn: &Turn<'_>,
    executor: &mut dyn Executor,
    from: Option<&Data<'_>>,
    to: Option<&Data<'_>>,
    root: usize,
) -> Result<()> {
    let (rank, size) = (executor.rank(), executor.size());
    let Some(from) = from else {
        let Some(to) = to else { return Ok(()) };
        turn.wait()?;
        let at = turn.of(root).wrapping_add(place(rank, root) * to.bytes());
        let copied = copy(executor, &packed(at, to.bytes()), to);
        turn.finish();
        return copied;
    };
    let mut copied = Ok(());
    for peer in (0..size).filter(|peer| *peer != rank) {
        let at = turn.own().wrapping_add(place(peer, rank) * from.bytes());
        copied = copied.and(copy(executor, &block(from, peer), &packed(at, from.bytes())));
    }
    turn.post();
    match to {
        Some(to) => copied.and(copy(executor, &block(from, rank), to)),
        None => copied,
    }
}

/// MPI_Allgather.
pub fn allgather(turn: &Turn<'_>, executor: &mut dyn Executor, from: Source<'_>, to: &Data<'_>) -> Result<()> {
    let (rank, size, bytes) = (executor.rank(), executor.size(), to.bytes());
    let mut copied = copy(executor, &contribution(from, block(to, rank)), &packed(turn.own(), bytes));
    turn.meet()?;
    for peer in (0..size).filter(|peer| *peer != rank) {
        copied = copied.and(copy(executor, &packed(turn.of(peer), bytes), &block(to, peer)));
    }
    if let Source::From(from) = from {
        copied = copied.and(copy(executor, &from, &block(to, rank)));
    }
    copied
}

/// MPI_Alltoall.
pub fn alltoall(turn: &Turn<'_>, executor: &mut dyn Executor, from: Source<'_>, to: &Data<'_>) -> Result<()> {
    let (rank, size, bytes) = (executor.rank(), executor.size(), to.bytes());
    let others = || (0..size).filter(|peer| *peer != rank);
    let source = contribution(from, *to);
    let mut copied = Ok(());
    for peer in others() {
        let at = turn.own().wrapping_add(place(peer, rank) * bytes);
        copied = copied.and(copy(executor, &block(&source, peer), &packed(at, bytes)));
    }
    turn.meet()?;
    for peer in others() {
        let at = turn.of(peer).wrapping_add(place(rank, peer) * bytes);
        copied = copied.and(copy(executor, &packed(at, bytes), &block(to, peer)));
    }
    if let Source::From(from) = from {
        copied = copied.and(copy(executor, &block(&from, rank), &block(to, rank)));
    }
    copied
}

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
        let copied = copy(executor, &from, &packed(turn.own(), from.bytes()));
        turn.post();
        return copied;
    };
    let copied = copy(executor, &contribution(from, *to), &packed(turn.own(), to.bytes()));
    turn.wait()?;
    let folded = fold(turn, executor, to, op);
    turn.finish();
    copied.and(folded)
}

/// MPI_Allreduce: with two ranks both combine, else the last one to come does so for all. Either way operands meet in rank
/// order, so that all have the same bits, whoever was last.
pub fn allreduce(turn: &Turn<'_>, executor: &mut dyn Executor, from: Source<'_>, to: &Data<'_>, op: &Op) -> Result<()> {
    let bytes = to.bytes();
    let copied = copy(executor, &contribution(from, *to), &packed(turn.own(), bytes));
    if turn.is_pair() {
        turn.meet()?;
        return copied.and(fold(turn, executor, to, op));
    }
    let result = packed(turn.result(bytes), bytes);
    if turn.arrive() {
        let folded = fold(turn, executor, to, op);
        let told = copy(executor, to, &result);
        turn.release();
        return copied.and(folded).and(told);
    }
    turn.wait()?;
    copied.and(copy(executor, &result, to))
}

/// Everybody's data, combined from the last rank to the first into `into`, as MPI 5.0 §6.9.1 orders operands.
fn fold(turn: &Turn<'_>, executor: &mut dyn Executor, into: &Data<'_>, op: &Op) -> Result<()> {
    let (size, bytes) = (executor.size(), into.bytes());
    copy(executor, &packed(turn.of(size - 1), bytes), into)?;
    let as_it_lies = into.datatype.is_predefined() && into.contiguous() == Some(into.at);
    let room = match as_it_lies {
        true => None,
        false => Some(executor.room(into)?),
    };
    for peer in (0..size - 1).rev() {
        match &room {
            None => executor.reduce(op, &Data { at: turn.of(peer), ..*into }, into)?,
            Some(room) => {
                copy(executor, &packed(turn.of(peer), bytes), room)?;
                executor.reduce(op, room, into)?;
            }
        }
    }
    Ok(())
}

/// A rank's block in a buffer with one per rank, of which `data` describes the first.
pub fn block<'a>(data: &Data<'a>, rank: usize) -> Data<'a> {
    data.at_element((rank * data.count) as isize, data.count)
}

/// Where `reader`'s block is among those that `writer` has for the others.
pub fn place(reader: usize, writer: usize) -> usize {
    reader - usize::from(reader > writer)
}
