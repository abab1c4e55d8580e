//! Shared memory as places, and the transport's calls.
#![allow(unsafe_code)]

use crate::module::Sm;
use alloc::vec::Vec;
use opal_core::Result;
use opal_core::framework::btl::{AmId, Caps, Endpoint, Full, Module, Peer, RxMessage};
use opal_core::framework::memcpy;
use opal_core::framework::shmem::Segment;
use opal_core::queue::fifo::{Memory, SLOT_RING_BYTES};
use opal_core::queue::fifo_pair::FifoPair;
use opal_core::sync::{AtomicU32, AtomicU64};

/// A mapped segment that stays mapped as long as the process uses this transport.
pub struct Shared {
    segment: Segment,
}

impl Shared {
    /// Over a segment of `framework/shmem`.
    pub fn of(segment: Segment) -> Shared {
        Shared { segment }
    }

    /// Length.
    pub fn bytes(&self) -> usize {
        self.segment.bytes
    }

    /// The 32-bit word at an offset.
    #[inline(always)]
    pub fn word32(&self, offset: usize) -> &AtomicU32 {
        debug_assert!(offset.is_multiple_of(4) && offset + 4 <= self.segment.bytes);
        // SAFETY: offsets come from `wire`, aligned and below `inbox_bytes`, which `Inbox::new` checked; the segment is
        // page-aligned and is never detached.
        unsafe { &*self.segment.base.wrapping_add(offset).cast::<AtomicU32>() }
    }

    /// The same for who keeps it.
    pub fn lasting_word32(&self, offset: usize) -> &'static AtomicU32 {
        let word = core::ptr::from_ref(self.word32(offset));
        // SAFETY: the segment is never detached.
        unsafe { &*word }
    }

    /// The 64-bit word at an offset.
    #[inline(always)]
    pub fn word64(&self, offset: usize) -> &AtomicU64 {
        debug_assert!(offset.is_multiple_of(8) && offset + 8 <= self.segment.bytes);
        // SAFETY: as in `word32`.
        unsafe { &*self.segment.base.wrapping_add(offset).cast::<AtomicU64>() }
    }

    /// A part of it, as a segment.
    pub fn part(&self, offset: usize, bytes: usize) -> Segment {
        assert!(offset.checked_add(bytes).is_some_and(|end| end <= self.segment.bytes));
        Segment { base: self.segment.base.wrapping_add(offset), bytes }
    }

    /// The queue whose areas begin at these offsets, the byte ring with its length.
    pub fn queue(&self, slots: usize, (pool, payload_ring_bytes): (usize, usize), consumed: usize) -> Memory {
        assert!(slots + SLOT_RING_BYTES <= self.segment.bytes && pool + payload_ring_bytes <= self.segment.bytes);
        assert!(slots.is_multiple_of(64) && consumed.is_multiple_of(4) && consumed + 4 <= self.segment.bytes);
        let base = self.segment.base;
        let (slots, pool) = (base.wrapping_add(slots), base.wrapping_add(pool));
        // SAFETY: the asserts above; the segment is never detached; only queues get these areas.
        unsafe { Memory::new(slots, pool, payload_ring_bytes, base.wrapping_add(consumed)) }
    }
}

impl Module for Sm {
    fn caps(&self) -> &Caps {
        self.abilities()
    }

    fn address(&self) -> Vec<u8> {
        self.own_address().to_bytes()
    }

    fn add_peer(&self, peer: Peer<'_>) -> Result<Option<Endpoint>> {
        self.connect(&peer)
    }

    fn remove_peer(&self, endpoint: Endpoint) {
        if let Some(outbound) = self.outbound(endpoint.0) {
            outbound.fifo_pair().close();
            self.receiving.lock().dismiss(endpoint.0);
        }
    }

    #[inline]
    unsafe fn send_inline(
        &self,
        to: Endpoint,
        am: AmId,
        immediate: u64,
        payload: *const u8,
        bytes: usize,
    ) -> core::result::Result<(), Full> {
        let Some(outbound) = self.outbound(to.0) else {
            return Err(Full);
        };
        // SAFETY: `payload` is readable for `bytes` by the caller's promise.
        outbound.with(self, |producer, awaited| unsafe { producer.push_inline(am, immediate, payload, bytes, awaited) })
    }

    fn send(
        &self,
        to: Endpoint,
        am: AmId,
        immediate: u64,
        bytes: usize,
        fill: &mut dyn FnMut(*mut u8),
    ) -> core::result::Result<(), Full> {
        let Some(outbound) = self.outbound(to.0) else {
            return Err(Full);
        };
        outbound.with(self, |producer, awaited| producer.push(am, immediate, bytes, None, awaited, fill))
    }

    // As the default, but the run gets lines of its own: copies between two lines that do not lie alike take a tenth longer.
    unsafe fn send_run(
        &self,
        to: Endpoint,
        am: AmId,
        immediate: u64,
        prefix: &[u8],
        run: *const u8,
        bytes: usize,
    ) -> core::result::Result<(), Full> {
        let Some(outbound) = self.outbound(to.0) else {
            return Err(Full);
        };
        let lead = prefix.len();
        let fill = |place: *mut u8| {
            // SAFETY: `place` has room for the prefix and the run.
            unsafe { memcpy::copy(place, prefix.as_ptr(), lead) };
            // SAFETY: as above; the run is readable by the caller's promise.
            unsafe { memcpy::copy(place.wrapping_add(lead), run, bytes) };
        };
        outbound.with(self, |producer, awaited| producer.push(am, immediate, lead + bytes, Some(lead), awaited, fill))
    }

    fn shared_word(&self, peer: Endpoint, own: bool, index: u32) -> Option<&AtomicU64> {
        if own {
            return self.inbox().shared_word(peer.0, index);
        }
        self.outbound(peer.0)?.shared_word(index)
    }

    fn shared_pool(&self, owner: Option<Endpoint>) -> Option<Segment> {
        match owner {
            None => Some(self.inbox().shared_pool()),
            Some(owner) => Some(self.outbound(owner.0)?.shared_pool()),
        }
    }

    fn poll(&self) -> usize {
        self.receiving.lock().poll(self)
    }

    fn fifo_pair(&self, peer: Endpoint) -> Option<&FifoPair> {
        Some(self.outbound(peer.0)?.fifo_pair())
    }

    fn wake(&self, peer: Endpoint) {
        if let Some(outbound) = self.outbound(peer.0) {
            outbound.wake();
        }
    }

    fn poll_peer(&self, from: Endpoint, polls: u32) -> Option<RxMessage<'_>> {
        let peeked = self.fifo_pair(from)?.peek(polls)?;
        Some(RxMessage { am: peeked.kind(), immediate: peeked.immediate, payload: peeked.payload() })
    }

    fn consume(&self, from: Endpoint) {
        if let Some(fifo_pair) = self.fifo_pair(from) {
            fifo_pair.take();
        }
    }
}

#[cfg(ompi_direct = "btl/sm")]
opal_core::direct_btl!(Sm, |module: *const ()| crate::component::is_own(module));
