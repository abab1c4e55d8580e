//! A board's header: where its owner sleeps, and who has which cell.

use crate::raw::Mapping;
use crate::wire::{self, Entry};
use opal_core::framework::btl::ProcessName;
use opal_core::sync::{AtomicU32, Ordering};
use opal_core::sys;

/// The header, mapped.
#[derive(Clone, Copy, Debug)]
pub struct Board {
    /// The mapping.
    pub header: Mapping,
}

/// What a cell's entry says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claimed {
    /// The number of the claim.
    pub claim: u32,
    /// The guest.
    pub guest: ProcessName,
    /// Bit s: side s has left; [`wire::FINISHED`] shifted by s: side s has left MPI.
    pub left: u32,
}

impl Board {
    /// The sleep flag: not 0 while the owner wants to be woken.
    pub fn sleep_flag(&self) -> &'static AtomicU32 {
        self.header.word32(wire::SLEEP_FLAG)
    }

    /// Wakes the owner if it sleeps.
    pub fn wake(&self) {
        // Of several senders one is enough. SeqCst as the rest of the protocol.
        if self.sleep_flag().swap(AWAKE, Ordering::SeqCst) != AWAKE {
            self.futex().fetch_add(1, Ordering::SeqCst);
            sys::futex_wake(self.futex());
        }
    }

    /// Takes a free cell for a guest; `None` if there is none. It counts once [`Board::finish_claim`] was called.
    pub fn begin_claim(&self, guest: ProcessName) -> Option<usize> {
        let take = |cell: &usize| {
            let state = self.field(*cell, Entry::State);
            // Acquire pairs with the Release of `free`: the owner's clearing comes first.
            state.compare_exchange(wire::FREE, wire::CLAIMING, Ordering::Acquire, Ordering::Relaxed).is_ok()
        };
        let cell = (0..wire::CELLS).find(take)?;
        // SeqCst: see `crate::claim`.
        let claim = self.header.word32(wire::CLAIMS).fetch_add(1, Ordering::SeqCst);
        self.field(cell, Entry::Claim).store(claim, Ordering::Relaxed);
        self.field(cell, Entry::Left).store(0, Ordering::Relaxed);
        self.header.word64(wire::entry(cell, Entry::Job)).store(guest.job, Ordering::Relaxed);
        self.header.word64(wire::entry(cell, Entry::Rank)).store(guest.rank.into(), Ordering::Relaxed);
        Some(cell)
    }

    /// Others see the claim from now on.
    pub fn finish_claim(&self, cell: usize) {
        self.field(cell, Entry::State).store(wire::CLAIMED, Ordering::SeqCst);
    }

    /// The state of a cell.
    pub fn state(&self, cell: usize) -> u32 {
        self.field(cell, Entry::State).load(Ordering::SeqCst)
    }

    /// What the entry of a claimed cell says.
    pub fn claimed(&self, cell: usize) -> Claimed {
        let word = |field| self.header.word64(wire::entry(cell, field)).load(Ordering::Relaxed);
        let guest = ProcessName { job: word(Entry::Job), rank: word(Entry::Rank) as u32 };
        let claim = self.field(cell, Entry::Claim).load(Ordering::Relaxed);
        // Acquire pairs with the Release of `leave`: who has left touches the cell no more.
        Claimed { claim, guest, left: self.field(cell, Entry::Left).load(Ordering::Acquire) }
    }

    /// A side uses its cell no more.
    pub fn leave(&self, cell: usize, side: usize) {
        self.field(cell, Entry::Left).fetch_or(1 << side, Ordering::Release);
    }

    /// A side has left MPI, and sends nothing more. It still has the cell mapped.
    pub fn finish(&self, cell: usize, side: usize) {
        // Release pairs with the Acquire of `claimed`: what it sent before is there.
        self.field(cell, Entry::Left).fetch_or(wire::FINISHED << side, Ordering::Release);
    }

    /// Nobody has the cell any more, whose memory is zeros.
    pub fn free(&self, cell: usize) {
        self.field(cell, Entry::State).store(wire::FREE, Ordering::Release);
    }

    fn field(&self, cell: usize, field: Entry) -> &'static AtomicU32 {
        self.header.word32(wire::entry(cell, field))
    }

    /// The word that the owner sleeps on.
    pub fn futex(&self) -> &'static AtomicU32 {
        self.header.word32(wire::FUTEX)
    }
}

/// The sleep flag of an owner that needs no waking.
pub const AWAKE: u32 = 0;
