//! Sending: one queue in the receiver's inbox.

use crate::inbox::Inbox;
use crate::module::Sm;
use opal_core::framework::btl::Full;
use opal_core::framework::shmem::Segment;
use opal_core::queue::fifo::{Consumer, Producer, Refused};
use opal_core::queue::fifo_pair::FifoPair;
use opal_core::sync::{AtomicU64, Ordering};

/// The way to one peer, and from it.
pub struct Outbound {
    fifo_pair: FifoPair,
    inbox: Inbox,
    own_rank: u32,
    /// The caller's number for the peer.
    pub peer: u32,
}

impl Outbound {
    /// To the owner of `inbox`, whom the caller knows as `peer`, from rank `own_rank` of this node. `from` is where the peer's
    /// messages arrive. `demotes`: whether the core can push lines out of its cache.
    pub fn new(inbox: Inbox, from: Consumer, own_rank: u32, peer: u32, demotes: bool) -> Outbound {
        let fifo_pair = FifoPair::new(Producer::new(inbox.queue(own_rank)), from, inbox.lasting_asleep(), demotes);
        Outbound { fifo_pair, inbox, own_rank, peer }
    }

    /// Both queues.
    #[inline(always)]
    pub fn fifo_pair(&self) -> &FifoPair {
        &self.fifo_pair
    }

    /// Runs `push` on the queue, with whether the peer waits for just this message, and sees to it that the receiver notices.
    #[inline(always)]
    pub fn with(&self, sm: &Sm, push: impl FnOnce(&mut Producer, bool) -> Result<(), Refused>) -> Result<(), Full> {
        if self.fifo_pair.is_closed() {
            return Err(Full);
        }
        let mut producer = self.fifo_pair.producer();
        let first = producer.is_new();
        if let Err(why) = push(&mut producer, self.fifo_pair.is_awaited()) {
            return self.refused(sm, why);
        }
        if first {
            self.inbox.mark_inbound(self.own_rank);
        }
        if self.fifo_pair.peer_sleeps() {
            self.wake();
        }
        Ok(())
    }

    /// Wakes the peer if it sleeps.
    #[cold]
    #[inline(never)]
    pub fn wake(&self) {
        self.inbox.ring();
    }

    /// The shared pool of the peer's inbox.
    pub fn shared_pool(&self) -> Segment {
        self.inbox.shared_pool()
    }

    /// A word of the peer's that it shares with this process.
    pub fn shared_word(&self, index: u32) -> Option<&AtomicU64> {
        self.inbox.shared_word(self.own_rank, index)
    }

    #[cold]
    #[inline(never)]
    fn refused(&self, sm: &Sm, why: Refused) -> Result<(), Full> {
        if why == Refused::Broken && !self.fifo_pair.close() {
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
