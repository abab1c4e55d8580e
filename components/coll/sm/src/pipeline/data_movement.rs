//! Data movement through rings: MPI_Bcast, MPI_Gather, MPI_Scatter, MPI_Allgather, MPI_Alltoall.

use super::Pipeline;
use super::blocks::{OwnBlock, Targets};
use super::ring::Ring;
use super::schedule::{Pieces, schedule};
use crate::buffer::{block, block_index, contiguous_source, contiguous_target, contribution, others, packed};
use ompi_core::data::{Data, Source};
use ompi_core::error::Result;
use ompi_core::executor::Executor;

/// MPI_Bcast: the root writes, the others read.
pub fn bcast(over: &Pipeline<'_>, executor: &mut dyn Executor, data: &Data<'_>, root: usize) -> Result<()> {
    let is_root = executor.rank() == root;
    let run = if is_root { contiguous_source(executor, data)? } else { contiguous_target(executor, data)? };
    let pieces = Pieces::of(run.count, over.rooted_piece(run.count));
    let mut channel = over.channel(Ring::Input, (pieces.steps, run.count), None);
    for step in 0..pieces.steps {
        let part = pieces.part(&run, step);
        if is_root {
            let room = channel.reserve(step)?;
            executor.copy(&part, &packed(room, part.count))?;
            if step + 1 == pieces.steps {
                channel.close();
            }
            channel.publish(step);
        } else {
            let at = channel.data(root, step)?;
            executor.copy(&packed(at, part.count), &part)?;
            channel.consume(step);
        }
    }
    if is_root {
        return Ok(());
    }
    channel.close();
    if data.contiguous().is_none() {
        executor.copy(&run, data)?;
    }
    Ok(())
}

/// MPI_Gather: all ranks but the root write, and the root reads from one after the other; `to` at the root. It copies its own block
/// while they write: at the end, 64 KiB by two ranks, roots in turn, took 4.2 instead of 2.9 µs.
pub fn gather(
    over: &Pipeline<'_>,
    executor: &mut dyn Executor,
    from: Source<'_>,
    (to, root): (Option<&Data<'_>>, usize),
) -> Result<()> {
    let (rank, size) = (executor.rank(), executor.size());
    let Some(to) = to.filter(|_| rank == root) else {
        let Source::From(from) = from else { return Ok(()) };
        let out = contiguous_source(executor, &from)?;
        let pieces = Pieces::of(out.count, over.rooted_piece(out.count));
        let mut channel = over.channel(Ring::Input, (pieces.steps, out.count), Some(root));
        for step in 0..pieces.steps {
            let (room, part) = (channel.reserve(step)?, pieces.part(&out, step));
            executor.copy(&part, &packed(room, part.count))?;
            if step + 1 == pieces.steps {
                channel.close();
            }
            channel.publish(step);
        }
        return Ok(());
    };
    let into = Targets::of(executor, to)?;
    let pieces = Pieces::of(to.bytes(), over.rooted_piece(to.bytes()));
    let channel = over.channel(Ring::Input, (pieces.steps, to.bytes()), Some(root));
    if let Source::From(from) = from {
        executor.copy(&from, &block(to, rank))?;
    }
    for step in 0..pieces.steps {
        for peer in others(rank, size) {
            let part = pieces.part(&into.run(peer), step);
            executor.copy(&packed(channel.data(peer, step)?, part.count), &part)?;
        }
        channel.consume(step);
    }
    channel.close();
    into.finish(executor, rank)
}

/// MPI_Scatter: the root writes a piece for each of the others into a slot; `from` at the root.
pub fn scatter(
    over: &Pipeline<'_>,
    executor: &mut dyn Executor,
    (from, to): (Option<&Data<'_>>, Option<&Data<'_>>),
    root: usize,
) -> Result<()> {
    let (rank, size, stride) = (executor.rank(), executor.size(), over.stride());
    let Some(from) = from.filter(|_| rank == root) else {
        let Some(to) = to else { return Ok(()) };
        let into = contiguous_target(executor, to)?;
        let pieces = Pieces::of(into.count, stride);
        let channel = over.channel(Ring::Input, (pieces.steps, into.count), None);
        for step in 0..pieces.steps {
            let part = pieces.part(&into, step);
            let at = channel.data(root, step)?.wrapping_add(block_index(rank, root) * stride);
            executor.copy(&packed(at, part.count), &part)?;
            channel.consume(step);
        }
        channel.close();
        return match to.contiguous() {
            Some(_) => Ok(()),
            None => executor.copy(&into, to),
        };
    };
    let bytes = from.bytes();
    let out = contiguous_source(executor, &Data { count: from.count * size, ..*from })?;
    let pieces = Pieces::of(bytes, stride);
    let mut channel = over.channel(Ring::Input, (pieces.steps, bytes), None);
    for step in 0..pieces.steps {
        let room = channel.reserve(step)?;
        for peer in others(rank, size) {
            let part = pieces.part(&packed(out.at.wrapping_add(peer * bytes), bytes), step);
            executor.copy(&part, &packed(room.wrapping_add(block_index(peer, rank) * stride), part.count))?;
        }
        if step + 1 == pieces.steps {
            channel.close();
        }
        channel.publish(step);
    }
    match to {
        Some(to) => executor.copy(&block(from, rank), to),
        None => Ok(()),
    }
}

/// MPI_Allgather.
pub fn allgather(over: &Pipeline<'_>, executor: &mut dyn Executor, from: Source<'_>, to: &Data<'_>) -> Result<()> {
    let (rank, size) = (executor.rank(), executor.size());
    let own = contribution(from, block(to, rank));
    let own_block =
        OwnBlock { bytes: to.bytes(), apart: matches!(from, Source::From(_)).then(|| (own, block(to, rank))) };
    let out = contiguous_source(executor, &own)?;
    let into = Targets::of(executor, to)?;
    let pieces = Pieces::of(own_block.bytes, over.rings.piece);
    let mut channel = over.channel(Ring::Input, (pieces.steps, own_block.bytes), None);
    for (stage, step) in schedule(channel.group(), pieces.steps, 2) {
        if stage == 0 {
            let (room, part) = (channel.reserve(step)?, pieces.part(&out, step));
            executor.copy(&part, &packed(room, part.count))?;
            channel.publish(step);
            own_block.copy_piece(executor, &pieces, step)?;
        } else {
            for peer in others(rank, size) {
                let part = pieces.part(&into.run(peer), step);
                executor.copy(&packed(channel.data(peer, step)?, part.count), &part)?;
            }
            channel.consume(step);
        }
    }
    channel.close();
    own_block.copy_rest(executor)?;
    into.finish(executor, rank)
}

/// MPI_Alltoall: a slot holds a piece for each of the others.
pub fn alltoall(over: &Pipeline<'_>, executor: &mut dyn Executor, from: Source<'_>, to: &Data<'_>) -> Result<()> {
    let (rank, size, bytes) = (executor.rank(), executor.size(), to.bytes());
    let source = contribution(from, *to);
    let apart = matches!(from, Source::From(_)).then(|| (block(&source, rank), block(to, rank)));
    let own_block = OwnBlock { bytes, apart };
    let out = contiguous_source(executor, &Data { count: source.count * size, ..source })?;
    let into = Targets::of(executor, to)?;
    let stride = over.stride();
    let pieces = Pieces::of(bytes, stride);
    let mut channel = over.channel(Ring::Input, (pieces.steps, bytes), None);
    for (stage, step) in schedule(channel.group(), pieces.steps, 2) {
        if stage == 0 {
            let room = channel.reserve(step)?;
            for peer in others(rank, size) {
                let part = pieces.part(&packed(out.at.wrapping_add(peer * bytes), bytes), step);
                executor.copy(&part, &packed(room.wrapping_add(block_index(peer, rank) * stride), part.count))?;
            }
            channel.publish(step);
            own_block.copy_piece(executor, &pieces, step)?;
        } else {
            for peer in others(rank, size) {
                let part = pieces.part(&into.run(peer), step);
                let at = channel.data(peer, step)?.wrapping_add(block_index(rank, peer) * stride);
                executor.copy(&packed(at, part.count), &part)?;
            }
            channel.consume(step);
        }
    }
    channel.close();
    own_block.copy_rest(executor)?;
    into.finish(executor, rank)
}
