//! MPI_Allgatherv, MPI_Alltoallv and MPI_Alltoallw through rings: as many steps as the longest block needs.

use super::Pipeline;
use super::ring::Ring;
use super::schedule::{Pieces, schedule};
use crate::buffer::{
    VBlocks, block_index, contiguous_source, contiguous_target, contribution, longest, others, packed,
};
use crate::flags::v_variants::ExchangedLengths;
use alloc::vec::Vec;
use ompi_core::data::{Blocks, Data, Source};
use ompi_core::error::Result;
use ompi_core::executor::Executor;

/// MPI_Allgatherv.
pub fn allgatherv(over: &Pipeline<'_>, executor: &mut dyn Executor, from: Source<'_>, to: &Blocks<'_>) -> Result<()> {
    let (rank, size) = (executor.rank(), executor.size());
    let out = contiguous_source(executor, &contribution(from, to.block(rank)))?;
    let into = targets(executor, |peer| to.block(peer))?;
    let bytes = longest(to, size);
    let pieces = Pieces::of(bytes, over.rings.piece);
    let mut channel = over.channel(Ring::Input, (pieces.steps, bytes), None);
    for (stage, step) in schedule(channel.group(), pieces.steps, 2) {
        if stage == 0 {
            let (room, part) = (channel.reserve(step)?, pieces.within(&out, step));
            executor.copy(&part, &packed(room, part.count))?;
            channel.publish(step);
        } else {
            for peer in others(rank, size) {
                let part = pieces.within(&into[peer], step);
                if part.count > 0 {
                    executor.copy(&packed(channel.data(peer, step)?, part.count), &part)?;
                }
            }
            channel.consume(step);
        }
    }
    channel.close();
    if let Source::From(from) = from {
        executor.copy(&from, &to.block(rank))?;
    }
    unpack(executor, &into, |peer| to.block(peer))
}

/// MPI_Alltoallv and MPI_Alltoallw after the exchange of lengths. The error that a block is too long for its target comes in the
/// end: the others still need this rank's blocks.
pub fn exchange(
    over: &Pipeline<'_>,
    executor: &mut dyn Executor,
    (from, to): (Option<VBlocks<'_>>, VBlocks<'_>),
    lengths: &ExchangedLengths<'_>,
) -> Result<()> {
    let (rank, size, stride) = (executor.rank(), executor.size(), over.stride());
    let source = from.unwrap_or(to);
    let out: Vec<Data<'_>> =
        (0..size).map(|peer| contiguous_source(executor, &source.block(peer))).collect::<Result<_>>()?;
    let into = targets(executor, |peer| to.block(peer))?;
    let arriving = |peer: usize| Data { count: lengths.arriving(peer).unwrap_or(0), ..into[peer] };
    let pieces = Pieces::of(lengths.longest, stride);
    let mut channel = over.channel(Ring::Input, (pieces.steps, lengths.longest), None);
    for (stage, step) in schedule(channel.group(), pieces.steps, 2) {
        if stage == 0 {
            let room = channel.reserve(step)?;
            for peer in others(rank, size) {
                let part = pieces.within(&out[peer], step);
                executor.copy(&part, &packed(room.wrapping_add(block_index(peer, rank) * stride), part.count))?;
            }
            channel.publish(step);
        } else {
            for peer in others(rank, size) {
                let part = pieces.within(&arriving(peer), step);
                if part.count > 0 {
                    let at = channel.data(peer, step)?.wrapping_add(block_index(rank, peer) * stride);
                    executor.copy(&packed(at, part.count), &part)?;
                }
            }
            channel.consume(step);
        }
    }
    channel.close();
    if let Some(from) = from {
        executor.copy(&from.block(rank), &to.block(rank))?;
    }
    others(rank, size).try_for_each(|peer| lengths.arriving(peer).map(drop))?;
    unpack(executor, &into, |peer| to.block(peer))
}

// By rank: contiguous bytes for its block.
fn targets<'a>(executor: &mut dyn Executor, block: impl Fn(usize) -> Data<'a>) -> Result<Vec<Data<'a>>> {
    let (rank, size) = (executor.rank(), executor.size());
    let each = |peer| match peer == rank {
        // It is copied as a whole.
        true => Ok(packed(core::ptr::null_mut(), 0)),
        false => contiguous_target(executor, &block(peer)),
    };
    (0..size).map(each).collect()
}

fn unpack<'a>(executor: &mut dyn Executor, runs: &[Data<'a>], block: impl Fn(usize) -> Data<'a>) -> Result<()> {
    let rank = executor.rank();
    for peer in others(rank, runs.len()) {
        let to = block(peer);
        if to.contiguous().is_none() {
            executor.copy(&runs[peer], &to)?;
        }
    }
    Ok(())
}
