//! An inbox as its owner and its senders see it.

use crate::raw::Shared;
use crate::wire;
use opal_core::sync::{AtomicU32, AtomicU64, Ordering};
use opal_core::wait::Bell;
use opal_core::{queue::lines::Memory, sys};

/// A mapped inbox, long enough for its number of ranks.
pub struct Inbox {
    shared: Shared,
    ranks: u32,
}

impl Inbox {
    /// `None` if the segment is too short.
    pub fn new(shared: Shared, ranks: u32) -> Option<Inbox> {
        (ranks <= wire::MAX_RANKS && shared.bytes() >= wire::inbox_bytes(ranks)).then_some(Inbox { shared, ranks })
    }

    /// The queue of one sender. Call once per side and sender: a queue has one producer and one consumer.
    pub fn queue(&self, sender: u32) -> Memory {
        debug_assert!(sender < self.ranks);
        let (slots, pool) = (wire::slots(sender, self.ranks), wire::pool(sender, self.ranks));
        self.shared.queue(slots, pool, wire::consumed(sender))
    }

    /// Word `index` of the bitmap of senders.
    #[inline(always)]
    pub fn inbound(&self, index: usize) -> &AtomicU64 {
        self.shared.word64(wire::INBOUND + index * 8)
    }

    /// A word that the owner shares with a sender.
    pub fn shared_word(&self, sender: u32, index: u32) -> Option<&AtomicU64> {
        let known = sender < self.ranks && index < wire::WORDS;
        known.then(|| self.shared.word64(wire::word(sender, index, self.ranks)))
    }

    /// Says that a rank has sent something.
    pub fn mark_inbound(&self, sender: u32) {
        // Release pairs with the Acquire of the owner's look at the bitmap: it then finds the slot filled.
        self.inbound(sender as usize / 64).fetch_or(1 << (sender % 64), Ordering::Release);
    }

    /// Wakes the owner if it sleeps. After a message was stored; see `opal_core::wait` for why no fence is needed.
    #[inline(always)]
    pub fn wake(&self) {
        opal_core::sync::compiler_fence(Ordering::SeqCst);
        // Relaxed: the sleeper's membarrier orders this load after the store of the message.
        if self.asleep().load(Ordering::Relaxed) != 0 {
            self.ring();
        }
    }

    #[cold]
    #[inline(never)]
    fn ring(&self) {
        // Of several senders one is enough. SeqCst as the rest of the protocol.
        if self.asleep().swap(0, Ordering::SeqCst) != 0 {
            self.bell().fetch_add(1, Ordering::SeqCst);
            sys::futex_wake(self.bell());
        }
    }

    fn asleep(&self) -> &AtomicU32 {
        self.shared.word32(wire::ASLEEP)
    }

    fn bell(&self) -> &AtomicU32 {
        self.shared.word32(wire::BELL)
    }
}

/// The owner sleeps on its own inbox.
impl Bell for Inbox {
    fn arm(&self) -> u32 {
        let ticket = self.bell().load(Ordering::SeqCst);
        self.asleep().store(1, Ordering::SeqCst);
        ticket
    }

    fn sleep(&self, ticket: u32, at_most_us: u64) {
        sys::futex_wait(self.bell(), ticket, at_most_us);
    }

    fn disarm(&self) {
        self.asleep().store(0, Ordering::SeqCst);
    }
}
