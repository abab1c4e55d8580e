//! Operations on the words of a process.

use crate::locks::Word;
use crate::operation::Operation;
use crate::peer::Peer;
use crate::raw::begin_atomic;
use crate::words::Which;
use ompi_core::error::Result;
use opal_core::framework::btl::{Atomic, Remote};
use opal_core::wait::Backoff;

/// A word of a process.
pub struct PeerWord<'a> {
    peer: &'a Peer,
    word: Remote,
}

impl<'a> PeerWord<'a> {
    /// One of a window of so many ranks.
    pub fn new(peer: &'a Peer, which: Which, ranks: usize) -> PeerWord<'a> {
        PeerWord { peer, word: peer.word(which.index(ranks)) }
    }

    /// Begins to add to it; does not wait.
    pub fn begin_add(&self, value: u64) -> Result<()> {
        begin_atomic(self.peer, &Operation::new(&self.peer.flow, None), self.word, Atomic::Add(value))
    }

    fn atomic(&self, atomic: Atomic) -> Result<u64> {
        let operation = Operation::new(&self.peer.flow, None);
        begin_atomic(self.peer, &operation, self.word, atomic)?;
        self.peer.wait(&operation)?;
        operation.found().ok_or_else(|| self.peer.lost())
    }
}

impl Word for PeerWord<'_> {
    fn add(&self, value: u64) -> Result<u64> {
        self.atomic(Atomic::Add(value))
    }

    fn compare_swap(&self, expected: u64, new: u64) -> Result<u64> {
        self.atomic(Atomic::CompareSwap(expected, new))
    }
}

/// Holds a process's accumulate lock.
pub struct Combining<'a> {
    word: PeerWord<'a>,
    held: u64,
}

impl<'a> Combining<'a> {
    /// Waits for it, for rank `me`.
    pub fn begin(word: PeerWord<'a>, me: usize) -> Result<Combining<'a>> {
        let held = me as u64 + 1;
        let mut backoff = Backoff::new();
        while word.compare_swap(0, held)? != 0 {
            backoff.step_for(|| word.peer.subject())?;
        }
        Ok(Combining { word, held })
    }
}

impl Drop for Combining<'_> {
    fn drop(&mut self) {
        // A target that is lost has no lock any more; the next synchronisation says so.
        let _begun = self.word.begin_add(self.held.wrapping_neg());
    }
}
