//! One peer: our queue in its receive segment, and its queue in ours.

use crate::rx_segment::RxSegment;
use opal_core::framework::btl::Full;
use opal_core::framework::shmem::Segment;
use opal_core::queue::fifo::{Consumer, Producer, Refused};
use opal_core::queue::fifo_pair::FifoPair;
use opal_core::sync::{AtomicBool, AtomicU64, Ordering};
use opal_core::wait;

/// A connected peer.
pub struct PeerEndpoint {
    fifo_pair: FifoPair,
    // The peer's.
    segment: RxSegment,
    // Its place on the node, and ours.
    rank: u32,
    own_rank: u32,
    /// The caller's number for the peer.
    pub peer: u32,
}

impl PeerEndpoint {
    /// To the owner of `segment`, which the caller knows as `peer`. `ranks`: its place on the node, and ours. `from` is where
    /// the peer's messages arrive. `demotes`: whether the core can push lines out of its cache.
    pub fn new(segment: RxSegment, from: Consumer, ranks: (u32, u32), peer: u32, demotes: bool) -> PeerEndpoint {
        let (rank, own_rank) = ranks;
        let to = Producer::new(segment.queue(own_rank));
        let fifo_pair = FifoPair::new(to, from, segment.static_sleep_flag(), demotes);
        PeerEndpoint { fifo_pair, segment, rank, own_rank, peer }
    }

    /// Both queues.
    #[inline(always)]
    pub fn fifo_pair(&self) -> &FifoPair {
        &self.fifo_pair
    }

    /// Runs `push` on the queue to the peer, with whether the peer waits for just this message. Afterwards the receiver
    /// notices the message. Sets `broken` if the peer has broken the queue.
    #[inline(always)]
    pub fn send(
        &self,
        broken: &AtomicBool,
        push: impl FnOnce(&mut Producer, bool) -> Result<(), Refused>,
    ) -> Result<(), Full> {
        if self.fifo_pair.is_closed() {
            return Err(Full);
        }
        let mut producer = self.fifo_pair.producer();
        let first = producer.is_new();
        if let Err(why) = push(&mut producer, self.fifo_pair.is_awaited()) {
            return self.refused(broken, why);
        }
        if first {
            self.segment.mark_sender(self.own_rank);
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
        self.segment.wake();
    }

    /// The shared pool of the peer's segment.
    pub fn shared_pool(&self) -> Segment {
        self.segment.shared_pool()
    }

    /// A word of the peer's that it shares with this process.
    pub fn shared_word(&self, index: u32) -> Option<&AtomicU64> {
        self.segment.shared_word(self.own_rank, index)
    }

    /// Sends and receives nothing any more, and lets the peer know. Says whether it was so before.
    #[cold]
    #[inline(never)]
    pub fn give_up(&self) -> bool {
        let before = self.fifo_pair.close();
        if !before {
            self.segment.mark_closed(self.rank, self.own_rank);
        }
        before
    }

    #[cold]
    #[inline(never)]
    fn refused(&self, broken: &AtomicBool, why: Refused) -> Result<(), Full> {
        wait::note_full();
        if why == Refused::Broken && !self.give_up() {
            opal_core::message!(
                "btl/sm: process {} claims to have received what was never sent; the connection to it is closed",
                self.peer
            );
            // The next poll reports it: the caller of a send may hold what the callback needs.
            broken.store(true, Ordering::Relaxed);
        }
        Err(Full)
    }
}
