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
    rank: u32,
    closed: AtomicBool,
    /// The caller's number for the peer.
    pub peer: u32,
}

impl Outbound {
    /// To the owner of `inbox`, rank `rank` of this node, from rank `own_rank`.
    pub fn new(inbox: Inbox, rank: u32, own_rank: u32, peer: u32) -> Outbound {
        let producer = Guarded::new(Producer::new(inbox.queue(own_rank)));
        Outbound { inbox, producer, own_rank, rank, closed: AtomicBool::new(false), peer }
    }

    /// Runs `push` on the queue and sees to it that the receiver notices.
    #[inline(always)]
    pub fn with(&self, sm: &Sm, push: impl FnOnce(&mut Producer) -> Result<(), Refused>) -> Result<(), Full> {
        if self.is_closed() {
            return Err(Full);
        }
        let mut producer = self.producer.lock();
        producer.set_demote(sm.is_awaited(self.rank));
        let first = producer.is_new();
        if let Err(why) = push(&mut producer) {
            return self.refused(sm, why);
        }
        if first {
            self.inbox.mark_inbound(self.own_rank);
        }
        self.inbox.wake();
        Ok(())
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
