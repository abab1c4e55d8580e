//! An inbox as its owner and its senders see it.

use crate::raw::Shared;
use crate::wire;
use alloc::sync::Arc;
use opal_core::framework::shmem::Segment;
use opal_core::queue::fifo::{Memory, payload_ring_bytes};
use opal_core::sync::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use opal_core::sys::{self, WakeSocket, WakeSocketName};
use opal_core::wait::{WakeMethod, Waker};

/// A mapped inbox, long enough for its number of ranks.
pub struct Inbox {
    shared: Shared,
    ranks: u32,
    // This process's own wake-up socket, from which it rings others'.
    door: Option<Arc<WakeSocket>>,
    /// The wake-up socket of the owner, who sleeps on it at times.
    door_name: WakeSocketName,
    // Every peer of the node can ring it. Of one's own inbox.
    reachable: AtomicBool,
}

impl Inbox {
    /// `None` if the segment is too short. `door` is this process's own wake-up socket, `door_name` the owner's.
    pub fn new(shared: Shared, ranks: u32, door: Option<Arc<WakeSocket>>, door_name: WakeSocketName) -> Option<Inbox> {
        let fits = ranks <= wire::MAX_RANKS && shared.bytes() >= wire::inbox_bytes(ranks);
        fits.then_some(Inbox { shared, ranks, door, door_name, reachable: AtomicBool::new(true) })
    }

    /// Some peer cannot ring the owner's wake-up socket.
    pub fn set_unreachable(&self) {
        self.reachable.store(false, Ordering::Relaxed);
    }

    /// This process's own wake-up socket.
    pub fn door(&self) -> Option<Arc<WakeSocket>> {
        self.door.clone()
    }

    /// The queue of one sender. Call once per side and sender: a queue has one producer and one consumer.
    pub fn queue(&self, sender: u32) -> Memory {
        debug_assert!(sender < self.ranks);
        let pool = (wire::pool(sender, self.ranks), payload_ring_bytes(self.ranks));
        self.shared.queue(wire::slots(sender, self.ranks), pool, wire::consumed(sender))
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

    /// What the layer above has of it.
    pub fn shared_pool(&self) -> Segment {
        self.shared.part(wire::shared_pool(self.ranks), wire::commons_bytes(self.ranks))
    }

    /// Says that a rank has sent something.
    pub fn mark_inbound(&self, sender: u32) {
        // Release pairs with the Acquire of the owner's look at the bitmap: it then finds the slot filled.
        self.inbound(sender as usize / 64).fetch_or(1 << (sender % 64), Ordering::Release);
    }

    /// Wakes the owner if it sleeps.
    pub fn ring(&self) {
        // Of several senders one is enough. SeqCst as the rest of the protocol.
        let how = self.asleep().swap(AWAKE, Ordering::SeqCst);
        if how == WakeMethod::Futex as u32 {
            self.bell().fetch_add(1, Ordering::SeqCst);
            sys::futex_wake(self.bell());
        } else if how == WakeMethod::Descriptor as u32
            && let Some(door) = &self.door
        {
            door.ring(&self.door_name);
        }
    }

    /// The owner's word that is not 0 while it wants to be woken.
    pub fn lasting_asleep(&self) -> &'static AtomicU32 {
        self.shared.lasting_word32(wire::ASLEEP)
    }

    fn asleep(&self) -> &AtomicU32 {
        self.shared.word32(wire::ASLEEP)
    }

    fn bell(&self) -> &AtomicU32 {
        self.shared.word32(wire::BELL)
    }
}

/// The owner sleeps on its own inbox.
impl Waker for Inbox {
    fn arm(&self, how: WakeMethod) -> u32 {
        if let (WakeMethod::Descriptor, Some(door)) = (how, &self.door) {
            // Who rang too late for the last sleep must not end this one.
            door.quiet();
        }
        let ticket = self.bell().load(Ordering::SeqCst);
        self.asleep().store(how as u32, Ordering::SeqCst);
        ticket
    }

    fn sleep(&self, ticket: u32, at_most_us: u64) -> bool {
        sys::futex_wait(self.bell(), ticket, at_most_us)
    }

    fn disarm(&self) -> bool {
        let rung = self.asleep().swap(AWAKE, Ordering::SeqCst) == AWAKE;
        if let (true, Some(door)) = (rung, &self.door) {
            door.quiet();
        }
        rung
    }

    fn wake_threads(&self) {
        self.bell().fetch_add(1, Ordering::SeqCst);
        sys::futex_wake(self.bell());
        if let (Some(door), true) = (&self.door, self.asleep().load(Ordering::SeqCst) == WakeMethod::Descriptor as u32)
        {
            door.ring(&self.door_name);
        }
    }

    fn descriptor(&self) -> Option<i32> {
        self.door.as_ref().filter(|_| self.reachable.load(Ordering::Relaxed)).map(|door| door.descriptor())
    }
}

/// What the owner's word says while it needs no waking.
const AWAKE: u32 = 0;
