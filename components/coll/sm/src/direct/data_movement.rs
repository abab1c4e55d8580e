//! Data movement straight between the ranks' buffers: MPI_Bcast, MPI_Allgather, MPI_Alltoall.

use super::exchange::{Direct, Exchange, Outcome};
use crate::buffer::{block, bound, contiguous_source, contiguous_target, contribution};
use ompi_core::data::{Data, Source};
use ompi_core::error::Result;
use ompi_core::executor::Executor;

/// MPI_Bcast. Two ranks copy a half each. Of more, each but the root reads a piece from the root and then the other pieces
/// from the ranks that read them, each rank from another one at a time: a process whose memory many read at once slows all down.
///
/// Chakraborty, Subramoni, Panda: Contention-aware kernel-assisted MPI collectives for multi-/many-core systems,
/// <https://doi.org/10.1109/CLUSTER.2017.119>.
pub fn bcast(over: &Direct<'_>, executor: &mut dyn Executor, data: &Data<'_>, root: usize) -> Result<Outcome> {
    let (rank, size) = (executor.rank(), executor.size());
    let run = if rank == root { contiguous_source(executor, data)? } else { contiguous_target(executor, data)? };
    let exchange = over.open(run.at, run.at, run.count)?;
    exchange.begin()?;
    let readers = size - 1;
    let pieces = if readers <= READERS_AT_ONCE { 1 } else { readers };
    // Readers are numbered from the root on.
    let reader = (rank + size - root - 1) % size;
    let mut succeeded = match (size, rank == root) {
        (2, true) => exchange.write(1 - root, piece(&run, 1, 2)),
        (2, false) => exchange.read(root, piece(&run, 0, 2)),
        (_, true) => true,
        (_, false) => exchange.read(root, piece(&run, reader % pieces, pieces)),
    };
    if pieces > 1 {
        exchange.barrier()?;
        for step in (1..pieces).filter(|_| rank != root) {
            let other = (reader + step) % readers;
            succeeded &= exchange.read((root + 1 + other) % size, piece(&run, other, pieces));
        }
    }
    let outcome = exchange.complete(succeeded, false)?.outcome()?;
    if rank != root && data.contiguous().is_none() {
        executor.copy(&run, data)?;
    }
    Ok(outcome)
}

/// MPI_Allgather.
pub fn allgather(over: &Direct<'_>, executor: &mut dyn Executor, from: Source<'_>, to: &Data<'_>) -> Result<Outcome> {
    let (rank, size) = (executor.rank(), executor.size());
    let run = contiguous_source(executor, &contribution(from, block(to, rank)))?;
    let exchange = over.open(run.at, run.at, run.count)?;
    let (early, late) = halves(&contribution(from, block(to, rank)), &block(to, rank));
    let apart = matches!(from, Source::From(_));
    let mut copied = if apart { executor.copy(&early.0, &early.1) } else { Ok(()) };
    exchange.begin()?;
    let mut succeeded = true;
    for peer in (1..size).map(|step| (rank + step) % size) {
        succeeded &= read_into(&exchange, executor, (peer, 0), &block(to, peer))?;
    }
    let closing = exchange.complete(succeeded, false)?;
    if apart {
        copied = copied.and(executor.copy(&late.0, &late.1));
    }
    let outcome = closing.outcome()?;
    copied.map(|()| outcome)
}

/// MPI_Alltoall.
pub fn alltoall(over: &Direct<'_>, executor: &mut dyn Executor, from: &Data<'_>, to: &Data<'_>) -> Result<Outcome> {
    let (rank, size) = (executor.rank(), executor.size());
    let run = contiguous_source(executor, &Data { count: from.count * size, ..*from })?;
    let exchange = over.open(run.at, run.at, run.count)?;
    let (early, late) = halves(&block(from, rank), &block(to, rank));
    let copied = executor.copy(&early.0, &early.1);
    exchange.begin()?;
    let mut succeeded = true;
    for peer in (1..size).map(|step| (rank + step) % size) {
        succeeded &= read_into(&exchange, executor, (peer, rank * to.bytes()), &block(to, peer))?;
    }
    let closing = exchange.complete(succeeded, false)?;
    let copied = copied.and(executor.copy(&late.0, &late.1));
    let outcome = closing.outcome()?;
    copied.map(|()| outcome)
}

// A rank's block for itself, in two parts: one to copy while the others come, one while they go.
fn halves<'a>(from: &Data<'a>, to: &Data<'a>) -> ((Data<'a>, Data<'a>), (Data<'a>, Data<'a>)) {
    if from.count != to.count || from.datatype.layout.size() != to.datatype.layout.size() {
        return ((*from, *to), (Data { count: 0, ..*from }, Data { count: 0, ..*to }));
    }
    let (middle, end) = (from.count / 2, from.count);
    let part = |data: &Data<'a>, begin: usize, end: usize| data.at_element(begin as isize, end - begin);
    ((part(from, 0, middle), part(to, 0, middle)), (part(from, middle, end), part(to, middle, end)))
}

// Reads from an offset of a rank's source, whatever the target's layout.
fn read_into(
    exchange: &Exchange<'_>,
    executor: &mut dyn Executor,
    (peer, offset): (usize, usize),
    to: &Data<'_>,
) -> Result<bool> {
    let run = contiguous_target(executor, to)?;
    let succeeded = exchange.read(peer, (offset, run));
    if to.contiguous().is_none() {
        executor.copy(&run, to)?;
    }
    Ok(succeeded)
}

// Offset and bytes of one of several pieces of a contiguous buffer, cut alike on all ranks.
fn piece<'a>(run: &Data<'a>, index: usize, pieces: usize) -> (usize, Data<'a>) {
    let begin = |index: usize| match index == pieces {
        true => run.count,
        false => bound(run.count, index, pieces).next_multiple_of(PAGE).min(run.count),
    };
    (begin(index), run.at_element(begin(index) as isize, begin(index + 1) - begin(index)))
}

/// Readers of one process's memory that do not yet slow each other down.
const READERS_AT_ONCE: usize = 3;
const PAGE: usize = 4096;
