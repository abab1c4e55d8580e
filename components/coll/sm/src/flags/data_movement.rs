//! The operations, over turns.

use crate::flags::epoch::Turn;
#[cfg(all(test, loom))]
use crate::models::byte;
use crate::raw::{copy, load, load_run, store};
use ompi_core::data::{Data, Source};
#[cfg(not(all(test, loom)))]
use ompi_core::datatype::byte;
use ompi_core::error::Result;
use ompi_core::executor::Executor;

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
    if turn.rank() == root {
        let copied = store(executor, data, turn.own(), data.bytes());
        turn.post();
        return copied;
    }
    turn.wait()?;
    let copied = load(executor, turn.of(root), data);
    turn.finish();
    copied
}

/// MPI_Gather: `to` at the root.
pub fn gather(turn: &Turn<'_>, executor: &mut dyn Executor, from: Source<'_>, to: Option<&Data<'_>>) -> Result<()> {
    let Some(to) = to else {
        let Source::From(from) = from else { return Ok(()) };
        let copied = store(executor, &from, turn.own(), from.bytes());
        turn.post();
        return copied;
    };
    turn.wait()?;
    let copied = load_others(turn, executor, to, 0);
    turn.finish();
    match from {
        Source::From(from) => copied.and(executor.copy(&from, &block(to, turn.rank()))),
        Source::InPlace => copied,
    }
}

/// MPI_Scatter: `from` at the root.
pub fn scatter(
    turn: &Turn<'_>,
    executor: &mut dyn Executor,
    from: Option<&Data<'_>>,
    to: Option<&Data<'_>>,
    root: usize,
) -> Result<()> {
    let Some(from) = from else {
        let Some(to) = to else { return Ok(()) };
        turn.wait()?;
        let at = turn.of(root).wrapping_add(place(turn.rank(), root) * to.bytes());
        let copied = load(executor, at, to);
        turn.finish();
        return copied;
    };
    let copied = store_others(turn, executor, from);
    turn.post();
    match to {
        Some(to) => copied.and(executor.copy(&block(from, turn.rank()), to)),
        None => copied,
    }
}

/// MPI_Allgather.
pub fn allgather(turn: &Turn<'_>, executor: &mut dyn Executor, from: Source<'_>, to: &Data<'_>) -> Result<()> {
    let mine = block(to, turn.rank());
    let mut copied = store(executor, &contribution(from, mine), turn.own(), to.bytes());
    turn.post();
    // While the others' data is on its way.
    if let Source::From(from) = from {
        copied = copied.and(copy(executor, &from, &mine));
    }
    turn.wait()?;
    copied.and(load_others(turn, executor, to, 0))
}

/// MPI_Alltoall.
pub fn alltoall(turn: &Turn<'_>, executor: &mut dyn Executor, from: Source<'_>, to: &Data<'_>) -> Result<()> {
    let (rank, bytes) = (turn.rank(), to.bytes());
    let mut copied = store_others(turn, executor, &contribution(from, *to));
    turn.post();
    // While the others' data is on its way.
    if let Source::From(from) = from {
        copied = copied.and(copy(executor, &block(&from, rank), &block(to, rank)));
    }
    turn.wait()?;
    copied.and(load_others(turn, executor, to, bytes))
}

/// Writes this rank's blocks for the others, which lie side by side there as they do in `from`, around its own.
fn store_others(turn: &Turn<'_>, executor: &mut dyn Executor, from: &Data<'_>) -> Result<()> {
    let (rank, others) = (turn.rank(), turn.size() - 1);
    let before = from.at_element(0, rank * from.count);
    let behind = from.at_element(((rank + 1) * from.count) as isize, (others - rank) * from.count);
    let mut at = turn.own();
    let mut done = Ok(());
    // The second one also after an error: nobody is left waiting.
    for blocks in [before, behind] {
        if blocks.count > 0 {
            done = done.and(store(executor, &blocks, at, blocks.bytes()));
            at = at.wrapping_add(blocks.bytes());
        }
    }
    done
}

/// Reads all others' blocks for this rank, the first of theirs or, where each of them has blocks of `apart` bytes for all others, its
/// own. Also after an error, as above.
fn load_others(turn: &Turn<'_>, executor: &mut dyn Executor, to: &Data<'_>, apart: usize) -> Result<()> {
    let (rank, size, bytes) = (turn.rank(), turn.size(), to.bytes());
    // Asked once for all blocks: MPI_Alltoall of eight bytes by four ranks takes 1205 instead of 1391 instructions.
    let run = Data { count: size * to.count, ..*to }.contiguous();
    let mut done = Ok(());
    for peer in (0..size).filter(|peer| *peer != rank) {
        let at = turn.of(peer).wrapping_add(place(rank, peer) * apart);
        done = done.and(match run {
            Some(run) => load_run(executor, at, run.wrapping_add(peer * bytes), bytes),
            None => load(executor, at, &block(to, peer)),
        });
    }
    done
}

/// A rank's block in a buffer with one per rank, of which `data` describes the first.
pub fn block<'a>(data: &Data<'a>, rank: usize) -> Data<'a> {
    data.at_element((rank * data.count) as isize, data.count)
}

/// Where `reader`'s block is among those that `writer` has for the others.
pub fn place(reader: usize, writer: usize) -> usize {
    reader - usize::from(reader > writer)
}
