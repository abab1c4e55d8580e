//! Reductions whose exchanges want a power of two of ranks: the others are folded into their neighbours.

use super::Executor;
use crate::data::Data;
use crate::error::Result;
use crate::op::Op;

/// What a rank that takes part in the exchanges holds. Partners that combine the group of lower ranks with that of higher
/// ones combine in rank order.
pub struct Fold<'a> {
    /// What has been combined so far.
    pub sum: Data<'a>,
    /// Room for as much.
    pub other: Data<'a>,
    /// This rank's number among those that take part.
    pub active: usize,
    /// How many take part: a power of two.
    pub actives: usize,
    // Of the first 2·folded ranks the odd ones take no part.
    folded: usize,
}

impl<'a> Fold<'a> {
    /// Combines what exceeds a power of two with its neighbours' contributions; each rank's lies in `to`. `None` on a
    /// rank that is done: the result will lie in `to`.
    pub fn begin<E: Executor + ?Sized>(executor: &mut E, to: &Data<'a>, op: &Op) -> Result<Option<Fold<'a>>> {
        let (rank, size) = (executor.rank(), executor.size());
        let actives = 1usize << size.ilog2();
        let folded = size - actives;
        if rank < 2 * folded && rank % 2 == 1 {
            executor.send(to, rank - 1)?;
            executor.recv(to, rank - 1)?;
            return Ok(None);
        }
        let active = if rank < 2 * folded { rank / 2 } else { rank - folded };
        let mut fold = Fold { sum: *to, other: executor.scratch(to)?, active, actives, folded };
        if rank < 2 * folded {
            executor.recv(&fold.other, rank + 1)?;
            executor.reduce(op, &fold.sum, &fold.other)?;
            fold.swap();
        }
        Ok(Some(fold))
    }

    /// The rank with this number among those that take part.
    pub fn rank_of(&self, active: usize) -> usize {
        if active < self.folded { 2 * active } else { active + self.folded }
    }

    /// `sum` and `other` change places.
    pub fn swap(&mut self) {
        core::mem::swap(&mut self.sum, &mut self.other);
    }

    /// Passes the result on to the rank that was folded, and puts it into `to`.
    pub fn end<E: Executor + ?Sized>(self, executor: &mut E, to: &Data<'a>) -> Result<()> {
        if self.active < self.folded {
            executor.send(&self.sum, 2 * self.active + 1)?;
        }
        if self.sum.at != to.at { executor.copy(&self.sum, to) } else { Ok(()) }
    }
}
