//! The blocks of a buffer, one per rank, while they go through rings.

use super::schedule::Pieces;
use crate::buffer::{block, contiguous_target, others, packed};
use ompi_core::data::Data;
use ompi_core::error::Result;
use ompi_core::executor::Executor;

/// A rank's block for itself, copied meanwhile.
pub struct OwnBlock<'a> {
    /// Its bytes.
    pub bytes: usize,
    /// From where, to where; `None` if it is in its place.
    pub apart: Option<(Data<'a>, Data<'a>)>,
}

impl OwnBlock<'_> {
    /// Copies one piece: right after it was written to the ring it is in the cache.
    pub fn copy_piece(&self, executor: &mut dyn Executor, pieces: &Pieces, step: usize) -> Result<()> {
        match self.runs() {
            Some((from, to)) => executor.copy(&pieces.part(&from, step), &pieces.part(&to, step)),
            None => Ok(()),
        }
    }

    /// Copies a block that is not contiguous, as a whole.
    pub fn copy_rest(&self, executor: &mut dyn Executor) -> Result<()> {
        match (self.runs(), &self.apart) {
            (None, Some((from, to))) => executor.copy(from, to),
            _ => Ok(()),
        }
    }

    fn runs(&self) -> Option<(Data<'_>, Data<'_>)> {
        let (from, to) = self.apart?;
        Some((packed(from.contiguous()?, self.bytes), packed(to.contiguous()?, self.bytes)))
    }
}

/// A buffer with a block per rank as contiguous bytes, which are unpacked in the end if it is not contiguous itself.
pub struct Targets<'a> {
    to: Data<'a>,
    run: Data<'a>,
}

impl<'a> Targets<'a> {
    /// Of the buffer of which `to` is the first block.
    pub fn of(executor: &mut dyn Executor, to: &Data<'a>) -> Result<Targets<'a>> {
        let size = executor.size();
        Ok(Targets { to: *to, run: contiguous_target(executor, &Data { count: to.count * size, ..*to })? })
    }

    /// The bytes of a rank's block.
    pub fn run(&self, rank: usize) -> Data<'a> {
        packed(self.run.at.wrapping_add(rank * self.to.bytes()), self.to.bytes())
    }

    /// All blocks are there.
    pub fn finish(&self, executor: &mut dyn Executor, rank: usize) -> Result<()> {
        let size = executor.size();
        if (Data { count: self.to.count * size, ..self.to }).contiguous().is_some() {
            return Ok(());
        }
        others(rank, size).try_for_each(|peer| executor.copy(&self.run(peer), &block(&self.to, peer)))
    }
}

/// The same elements at another address: types without gaps begin where their data does.
pub fn relocated<'a>(data: &Data<'a>, at: *mut u8) -> Data<'a> {
    Data { at, ..*data }
}
