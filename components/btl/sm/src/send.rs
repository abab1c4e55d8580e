//! Sending: one queue in the receiver's inbox.

use crate::inbox::Inbox;
use crate::module::Sm;
use opal_core::framework::btl::Full;
use opal_core::queue::lines::{Producer, Refused};
use opal_core::sync::{AtomicBool, AtomicU64, Guarded, Ordering};

/// The way to one peer.
pub struct Outbound {
    inbox: Inbox,
    producer: Guarded<Producer>,
    own_rank: u32,
    closed: AtomicBool,
    // Something arrived from the peer since the last message to it.
    heard: AtomicBool,
    demotes: bool,
    /// The caller's number for the peer.
    pub peer: u32,
}

impl Outbound {
    /// To the owner of `inbox`, whom the caller knows as `peer`, from rank `own_rank` of this node. `demotes`: whether the core
    /// can push lines out of its cache.
    pub fn new(inbox: Inbox, own_rank: u32, peer: u32, demotes: bool) -> Outbound {
        let producer = Guarded::new(Producer::new(inbox.queue(own_rank)));
        let (closed, heard) = (AtomicBool::new(false), AtomicBool::new(false));
        Outbound { inbox, producer, own_rank, closed, heard, demotes, peer }
    }

    /// Something arrived from the peer.
    #[inline(always)]
    pub fn note_arrival(&self) {
        self.heard.store(true, Ordering::Relaxed);
    }

    /// Whether the peer probably waits for the next message to it: it sent one since the last. Asked once per message.
    #[inline(always)]
    fn is_awaited(&self) -> bool {
        let awaited = self.demotes && self.heard.load(Ordering::Relaxed);
        if awaited {
            self.heard.store(false, Ordering::Relaxed);
        }
        awaited
    }

    /// Runs `push` on the queue, with whether the peer waits for just this message, and sees to it that the receiver notices.
    #[inline(always)]
    pub fn with(&self, sm: &Sm, push: impl FnOnce(&mut Producer, bool) -> Result<(), Refused>) -> Result<(), Full> {
        if self.is_closed() {
            return Err(Full);
        }
        let mut producer = self.producer.lock();
        let first = producer.is_new();
        if let Err(why) = push(&mut producer, self.is_awaited()) {
            return self.refused(sm, why);
        }
        if first {
            self.inbox.mark_inbound(self.own_rank);
        }
        self.inbox.wake();
        Ok(())
    }

    /// As [`Outbound::with`] for the fast call, when one thread uses the library: nothing on the way is a call, so that no
    /// register is saved. `false`: ask `with`, which also finds out why.
    #[inline(always)]
    pub fn at_once(&self, push: impl FnOnce(&mut Producer, bool) -> bool) -> bool {
        let Some(mut producer) = self.producer.lock_alone() else { return false };
        if self.is_closed() || producer.is_new() || !push(&mut producer, self.is_awaited()) {
            return false;
        }
        self.inbox.wake();
        true
    }

    /// A word of the peer's that it shares with this process.
    pub fn shared_word(&self, index: u32) -> Option<&AtomicU64> {
        self.inbox.shared_word(self.own_rank, index)
    }

    /// Nothing is sent any more.
    pub fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
    }

    /// Whether it was closed.
    #[inline(always)]
    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    #[cold]
    #[inline(never)]
    fn refused(&self, sm: &Sm, why: Refused) -> Result<(), Full> {
        if why == Refused::Broken && !self.closed.swap(true, Ordering::Relaxed) {
            opal_core::message!(
                "btl/sm: process {} claims to have received what was never sent; the connection to it is closed",
                self.peer
            );
            // Told by the next poll: the caller of a send may hold what the callback needs.
            sm.broken.store(true, Ordering::Relaxed);
        }
        Err(Full)
    }
}
