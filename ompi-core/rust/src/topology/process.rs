//! The processes of a communicator, as partners of communication.

use super::{Owned, Rank};
use core::fmt;
use ompi_core::status::{ANY_SOURCE, PROC_NULL};

/// One process of a communicator: where messages go to, where they come from, the root of collectives.
#[derive(Clone, Copy)]
pub struct Process<'a> {
    owned: &'a Owned,
    rank: Rank,
}

impl<'a> Process<'a> {
    /// # Panics
    /// If the communicator has no such rank.
    #[inline(always)]
    pub(crate) fn new(owned: &'a Owned, rank: Rank) -> Process<'a> {
        let size = owned.comm().peer_count();
        if rank as u32 as usize >= size {
            no_rank(rank, size);
        }
        Process { owned, rank }
    }

    /// Nobody.
    pub(crate) fn null(owned: &'a Owned) -> Process<'a> {
        Process { owned, rank: PROC_NULL }
    }

    /// Its rank; MPI_PROC_NULL for nobody.
    pub fn rank(&self) -> Rank {
        self.rank
    }

    /// Whether it is this process.
    pub fn is_self(&self) -> bool {
        !self.owned.comm().is_inter() && self.rank == self.owned.comm().rank as Rank
    }

    /// Whether it is nobody: what is sent there vanishes, and receives from there end at once without data.
    pub fn is_null(&self) -> bool {
        self.rank == PROC_NULL
    }

    #[inline(always)]
    pub(crate) fn parts(&self) -> (&'a Owned, Rank) {
        (self.owned, self.rank)
    }
}

#[cold]
#[inline(never)]
fn no_rank(rank: Rank, size: usize) -> ! {
    panic!("rank {rank} of a communicator of {size} processes (0 to {})", size - 1)
}

impl fmt::Debug for Process<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Process").field("rank", &self.rank).field("of", self.owned).finish()
    }
}

/// Any process of a communicator, as a source: MPI_ANY_SOURCE.
#[derive(Clone, Copy, Debug)]
pub struct AnyProcess<'a> {
    owned: &'a Owned,
}

impl<'a> AnyProcess<'a> {
    pub(crate) fn new(owned: &'a Owned) -> AnyProcess<'a> {
        AnyProcess { owned }
    }

    #[inline(always)]
    pub(crate) fn parts(&self) -> (&'a Owned, Rank) {
        (self.owned, ANY_SOURCE)
    }
}
