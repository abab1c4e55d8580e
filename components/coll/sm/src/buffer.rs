//! Buffers of a call: blocks by rank, and data as contiguous bytes.

#[cfg(all(test, loom))]
use crate::models::byte;
use ompi_core::data::{Blocks, Data, Source, TypedBlocks};
#[cfg(not(all(test, loom)))]
use ompi_core::datatype::byte;
use ompi_core::error::Result;
use ompi_core::executor::Executor;

/// Contiguous bytes.
pub fn packed<'a>(at: *mut u8, bytes: usize) -> Data<'a> {
    Data { at, count: bytes, datatype: byte() }
}

/// A rank's contribution, which with MPI_IN_PLACE lies in `place`.
pub fn contribution<'a>(from: Source<'a>, place: Data<'a>) -> Data<'a> {
    match from {
        Source::From(from) => from,
        Source::InPlace => place,
    }
}

/// A rank's block in a buffer with one per rank, of which `data` describes the first.
pub fn block<'a>(data: &Data<'a>, rank: usize) -> Data<'a> {
    data.at_element((rank * data.count) as isize, data.count)
}

/// Index of `reader`'s block among those that `writer` has for the others.
pub fn block_index(reader: usize, writer: usize) -> usize {
    reader - usize::from(reader > writer)
}

/// Blocks by rank, of one datatype or of one each.
#[derive(Clone, Copy)]
pub enum VBlocks<'a> {
    /// MPI_Alltoallv.
    Uniform(&'a Blocks<'a>),
    /// MPI_Alltoallw.
    Typed(&'a TypedBlocks<'a>),
}

impl<'a> VBlocks<'a> {
    /// The block of a rank.
    pub fn block(&self, rank: usize) -> Data<'a> {
        match self {
            VBlocks::Uniform(blocks) => blocks.block(rank),
            VBlocks::Typed(blocks) => blocks.block(rank),
        }
    }
}

/// Bytes of the longest block.
pub fn longest(blocks: &Blocks<'_>, ranks: usize) -> usize {
    let most = (0..ranks).map(|rank| blocks.counts.count(rank)).max().unwrap_or(0);
    most.saturating_mul(blocks.datatype.layout.size())
}

/// Contiguous bytes for the data: where it lies, or scratch that the caller copies to it in the end.
pub fn contiguous_target<'a>(executor: &mut dyn Executor, data: &Data<'a>) -> Result<Data<'a>> {
    match data.contiguous() {
        Some(at) => Ok(packed(at, data.bytes())),
        None => executor.scratch(&packed(core::ptr::null_mut(), data.bytes())),
    }
}

/// Contiguous bytes with the data in them: where it lies, or a packed copy.
pub fn contiguous_source<'a>(executor: &mut dyn Executor, data: &Data<'a>) -> Result<Data<'a>> {
    let run = contiguous_target(executor, data)?;
    if data.contiguous().is_none() {
        executor.copy(data, &run)?;
    }
    Ok(run)
}

/// The element at which one of several pieces begins, without overflow for any count.
pub fn bound(count: usize, piece: usize, pieces: usize) -> usize {
    count / pieces * piece + (count % pieces).min(piece)
}

/// All other ranks, each rank beginning with another one.
pub fn others(rank: usize, size: usize) -> impl Iterator<Item = usize> {
    (rank + 1..size).chain(0..rank)
}

/// The elements that a rank combines for all.
pub fn share<'a>(piece: &Data<'a>, rank: usize, size: usize) -> Data<'a> {
    let each = piece.count.div_ceil(size);
    let begin = (rank * each).min(piece.count);
    piece.at_element(begin as isize, each.min(piece.count - begin))
}

/// Whether the elements lie at the data's address one after the other, as they do in a packed copy.
#[inline(always)]
pub fn lies_packed(data: &Data<'_>) -> bool {
    data.datatype.is_predefined() && data.contiguous() == Some(data.at)
}
