//! A receive segment: the shared memory in which one rank receives from all others of its node.
//!
//! The owner and its senders use the same type. The owner reads the queues and sleeps on the segment. A sender writes one
//! queue and wakes the owner.

use crate::raw::Shared;
use crate::wire;
use alloc::sync::Arc;
use opal_core::framework::shmem::Segment;
use opal_core::queue::fifo::{Memory, payload_ring_bytes};
use opal_core::sync::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use opal_core::sys::{self, WakeSocket, WakeSocketName};
use opal_core::wait::{WakeMethod, Waker};

/// A mapped receive segment, long enough for its number of ranks.
pub struct RxSegment {
    shared: Shared,
    ranks: u32,
    // This process's own wake-up socket, from which it sends to the sockets of others.
    wake_socket: Option<Arc<WakeSocket>>,
    // The owner sleeps on this socket while it also waits for descriptors.
    owner_socket: WakeSocketName,
    // Every peer of the node can send to the owner's wake-up socket. Only used by the owner.
    reachable: AtomicBool,
}

impl RxSegment {
    /// `None` if the segment is too short. `wake_socket` is this process's own, `owner_socket` the name of the owner's.
    pub fn new(
        shared: Shared,
        ranks: u32,
        wake_socket: Option<Arc<WakeSocket>>,
        owner_socket: WakeSocketName,
    ) -> Option<RxSegment> {
        let fits = ranks <= wire::MAX_RANKS && shared.bytes() >= wire::segment_bytes(ranks);
        fits.then_some(RxSegment { shared, ranks, wake_socket, owner_socket, reachable: AtomicBool::new(true) })
    }

    /// Some peer cannot send to the owner's wake-up socket.
    pub fn set_unreachable(&self) {
        self.reachable.store(false, Ordering::Relaxed);
    }

    /// This process's own wake-up socket.
    pub fn wake_socket(&self) -> Option<Arc<WakeSocket>> {
        self.wake_socket.clone()
    }

    /// The queue of one sender. Call once per side and sender: a queue has one producer and one consumer.
    pub fn queue(&self, sender: u32) -> Memory {
        debug_assert!(sender < self.ranks);
        let pool = (wire::pool(sender, self.ranks), payload_ring_bytes(self.ranks));
        self.shared.queue(wire::slots(sender, self.ranks), pool, wire::consumed(sender))
    }

    /// Word `index` of the sender bitmap.
    #[inline(always)]
    pub fn sender_bitmap(&self, index: usize) -> &AtomicU64 {
        self.shared.word64(wire::SENDER_BITMAP + index * 8)
    }

    /// A word that the owner shares with a sender.
    pub fn shared_word(&self, sender: u32, index: u32) -> Option<&AtomicU64> {
        let known = sender < self.ranks && index < wire::WORDS;
        known.then(|| self.shared.word64(wire::word(sender, index, self.ranks)))
    }

    /// The part that belongs to the layer above.
    pub fn shared_pool(&self) -> Segment {
        self.shared.part(wire::shared_pool(self.ranks), wire::shared_pool_bytes(self.ranks))
    }

    /// Sets the bit of a rank that has sent its first message.
    pub fn mark_sender(&self, sender: u32) {
        // Release pairs with the Acquire of the owner's look at the bitmap: it then finds the slot filled.
        self.sender_bitmap(sender as usize / 64).fetch_or(1 << (sender % 64), Ordering::Release);
    }

    /// Says to the owner, which is rank `owner`, that rank `sender` has given up the queues between them.
    pub fn mark_closed(&self, owner: u32, sender: u32) {
        self.closed_bitmap(sender as usize / 64).fetch_or(1 << (sender % 64), Ordering::Relaxed);
        // The owner sends itself nothing here: its own bit is news at each look until it clears it. Release pairs with the
        // Acquire in `take_closed`: who sees the bit sees the other bitmap's.
        self.sender_bitmap(owner as usize / 64).fetch_or(1 << (owner % 64), Ordering::Release);
        self.wake();
    }

    /// Whether somebody gave its queues up since the last call, which the owner, rank `owner`, makes.
    pub fn take_closed(&self, owner: u32) -> bool {
        let own = 1 << (owner % 64);
        self.sender_bitmap(owner as usize / 64).fetch_and(!own, Ordering::AcqRel) & own != 0
    }

    /// Whether a rank has given up its queues with the owner.
    pub fn is_closed_by(&self, sender: u32) -> bool {
        self.closed_bitmap(sender as usize / 64).load(Ordering::Relaxed) & 1 << (sender % 64) != 0
    }

    /// Wakes the owner if it sleeps.
    pub fn wake(&self) {
        // Of several senders one is enough. SeqCst as the rest of the protocol.
        match WakeMethod::of_flag(self.sleep_flag().swap(AWAKE, Ordering::SeqCst)) {
            Some(WakeMethod::Futex) => {
                self.futex().fetch_add(1, Ordering::SeqCst);
                sys::futex_wake(self.futex());
            }
            Some(WakeMethod::Descriptor) => {
                if let Some(socket) = &self.wake_socket {
                    socket.wake(&self.owner_socket);
                }
            }
            None => {}
        }
    }

    /// The sleep flag: not 0 while the owner wants to be woken.
    pub fn static_sleep_flag(&self) -> &'static AtomicU32 {
        self.shared.static_word32(wire::SLEEP_FLAG)
    }

    fn sleep_flag(&self) -> &AtomicU32 {
        self.shared.word32(wire::SLEEP_FLAG)
    }

    fn closed_bitmap(&self, index: usize) -> &AtomicU64 {
        self.shared.word64(wire::CLOSED_BITMAP + index * 8)
    }

    fn futex(&self) -> &AtomicU32 {
        self.shared.word32(wire::FUTEX)
    }
}

/// The owner sleeps on its own segment.
impl Waker for RxSegment {
    fn arm(&self, how: WakeMethod, awaits_room: bool) -> u32 {
        if let (WakeMethod::Descriptor, Some(socket)) = (how, &self.wake_socket) {
            // A datagram that came too late for the last sleep must not end this one.
            socket.clear();
        }
        let ticket = self.futex().load(Ordering::SeqCst);
        self.sleep_flag().store(how.flag(awaits_room), Ordering::SeqCst);
        ticket
    }

    fn sleep(&self, ticket: u32, at_most_us: u64) -> bool {
        sys::futex_wait(self.futex(), ticket, at_most_us)
    }

    fn futex(&self) -> Option<&AtomicU32> {
        Some(RxSegment::futex(self))
    }

    fn disarm(&self) -> bool {
        let woken = self.sleep_flag().swap(AWAKE, Ordering::SeqCst) == AWAKE;
        if let (true, Some(socket)) = (woken, &self.wake_socket) {
            socket.clear();
        }
        woken
    }

    fn wake_threads(&self) {
        self.futex().fetch_add(1, Ordering::SeqCst);
        sys::futex_wake(self.futex());
        let sleeps_on_descriptors =
            WakeMethod::of_flag(self.sleep_flag().load(Ordering::SeqCst)) == Some(WakeMethod::Descriptor);
        if let (Some(socket), true) = (&self.wake_socket, sleeps_on_descriptors) {
            socket.wake(&self.owner_socket);
        }
    }

    fn descriptor(&self) -> Option<i32> {
        let socket = self.wake_socket.as_ref().filter(|_| self.reachable.load(Ordering::Relaxed));
        socket.map(|socket| socket.descriptor())
    }
}

/// The sleep flag of an owner that needs no waking.
const AWAKE: u32 = 0;
