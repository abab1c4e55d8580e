//! Data goes to other ranks as it is, in blocks of different lengths: there are as many steps as the longest one needs.

use super::{Cut, Pipeline, others, stages};
use crate::direct::data_movement::{filled_run, run};
use crate::flags::data_movement::{contribution, packed, place};
use crate::flags::v_variants::{Several, Told, longest};
use crate::pipeline::ring::Ring;
use alloc::vec::Vec;
use ompi_core::data::{Blocks, Data, Source};
use ompi_core::error::Result;
use ompi_core::executor::Executor;

/// MPI_Allgatherv.
pub fn allgatherv(over: &Pipeline<'_>, executor: &mut dyn Executor, from: Source<'_>, to: &Blocks<'_>) -> Result<()> {
    let (rank, size) = (executor.rank(), executor.size());
    let out = filled_run(executor, &contribution(from, to.block(rank)))?;
    let into = targets(executor, |peer| to.block(peer))?;
    let bytes = longest(to, size);
    let cut = Cut::of(bytes, over.rings.piece);
    let mut flow = over.flow(Ring::Input, (cut.steps, bytes), None);
    for (stage, step) in stages(flow.group(), cut.steps, 2) {
        if stage == 0 {
            let (room, part) = (flow.room(step)?, cut.within(&out, step));
            executor.copy(&part, &packed(room, part.count))?;
            flow.post(step);
        } else {
            for peer in others(rank, size) {
                let part = cut.within(&into[peer], step);
                if part.count > 0 {
                    executor.copy(&packed(flow.data(peer, step)?, part.count), &part)?;
                }
            }
            flow.took(step);
        }
    }
    flow.close();
    if let Source::From(from) = from {
        executor.copy(&from, &to.block(rank))?;
    }
    spread(executor, &into, |peer| to.block(peer))
}

/// MPI_Alltoallv and MPI_Alltoallw, of which all have told the lengths. The error that a block is too long for its target
/// comes in the end: the others still need this rank's.
pub fn exchange(
    over: &Pipeline<'_>,
    executor: &mut dyn Executor,
    (from, to): (Option<Several<'_>>, Several<'_>),
    told: &Told<'_>,
) -> Result<()> {
    let (rank, size, stride) = (executor.rank(), executor.size(), over.stride());
    let source = from.unwrap_or(to);
    let out: Vec<Data<'_>> = (0..size).map(|peer| filled_run(executor, &source.block(peer))).collect::<Result<_>>()?;
    let into = targets(executor, |peer| to.block(peer))?;
    let arriving = |peer: usize| Data { count: told.arriving(peer).unwrap_or(0), ..into[peer] };
    let cut = Cut::of(told.longest, stride);
    let mut flow = over.flow(Ring::Input, (cut.steps, told.longest), None);
    for (stage, step) in stages(flow.group(), cut.steps, 2) {
        if stage == 0 {
            let room = flow.room(step)?;
            for peer in others(rank, size) {
                let part = cut.within(&out[peer], step);
                executor.copy(&part, &packed(room.wrapping_add(place(peer, rank) * stride), part.count))?;
            }
            flow.post(step);
        } else {
            for peer in others(rank, size) {
                let part = cut.within(&arriving(peer), step);
                if part.count > 0 {
                    let at = flow.data(peer, step)?.wrapping_add(place(rank, peer) * stride);
                    executor.copy(&packed(at, part.count), &part)?;
                }
            }
            flow.took(step);
        }
    }
    flow.close();
    if let Some(from) = from {
        executor.copy(&from.block(rank), &to.block(rank))?;
    }
    others(rank, size).try_for_each(|peer| told.arriving(peer).map(drop))?;
    spread(executor, &into, |peer| to.block(peer))
}

// Where each rank's block is to lie as a run of bytes: where it goes, or room for it.
fn targets<'a>(executor: &mut dyn Executor, block: impl Fn(usize) -> Data<'a>) -> Result<Vec<Data<'a>>> {
    let (rank, size) = (executor.rank(), executor.size());
    let each = |peer| match peer == rank {
        // Which is copied at once.
        true => Ok(packed(core::ptr::null_mut(), 0)),
        false => run(executor, &block(peer)),
    };
    (0..size).map(each).collect()
}

fn spread<'a>(executor: &mut dyn Executor, runs: &[Data<'a>], block: impl Fn(usize) -> Data<'a>) -> Result<()> {
    let rank = executor.rank();
    for peer in others(rank, runs.len()) {
        let to = block(peer);
        if to.contiguous().is_none() {
            executor.copy(&runs[peer], &to)?;
        }
    }
    Ok(())
}
