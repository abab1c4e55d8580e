//! Shared memory as places, and the transport's calls.
#![allow(unsafe_code)]

use crate::module::Sm;
use crate::send::Outbound;
use alloc::vec::Vec;
use opal_core::Result;
use opal_core::framework::btl::{AmId, Arrived, Caps, Endpoint, Full, Module, Peer};
use opal_core::framework::shmem::Segment;
use opal_core::mem::Foreign;
use opal_core::queue::lines::{Memory, POOL_BYTES, Peeked, RING_BYTES};
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

    /// The 64-bit word at an offset.
    #[inline(always)]
    pub fn word64(&self, offset: usize) -> &AtomicU64 {
        debug_assert!(offset.is_multiple_of(8) && offset + 8 <= self.segment.bytes);
        // SAFETY: as in `word32`.
        unsafe { &*self.segment.base.wrapping_add(offset).cast::<AtomicU64>() }
    }

    /// The queue whose areas begin at these offsets.
    pub fn queue(&self, slots: usize, pool: usize, consumed: usize) -> Memory {
        assert!(slots + RING_BYTES <= self.segment.bytes && pool + POOL_BYTES <= self.segment.bytes);
        assert!(slots.is_multiple_of(64) && consumed.is_multiple_of(4) && consumed + 4 <= self.segment.bytes);
        let base = self.segment.base;
        let (slots, pool) = (base.wrapping_add(slots), base.wrapping_add(pool));
        // SAFETY: the asserts above; the segment is never detached; only queues get these areas.
        unsafe { Memory::new(slots, pool, base.wrapping_add(consumed)) }
    }
}

/// The payload of a message that was not taken yet.
#[inline(always)]
pub fn payload<'a>(peeked: &Peeked) -> Foreign<'a> {
    // SAFETY: `peek` checked that the payload lies in the queue's memory, which is never unmapped.
    unsafe { Foreign::new(peeked.at, peeked.bytes) }
}

impl Sm {
    /// # Safety
    /// `payload` is readable for `bytes`.
    #[inline(never)]
    unsafe fn send_slowly(
        &self,
        to: &Outbound,
        am: AmId,
        head: u64,
        payload: *const u8,
        bytes: usize,
    ) -> core::result::Result<(), Full> {
        // SAFETY: the caller's promise.
        to.with(self, |producer, awaited| unsafe { producer.push_inline(am, head, payload, bytes, awaited) })
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
        if let Some(outbound) = self.outbound.get(endpoint.0 as usize).and_then(|place| place.get()) {
            outbound.close();
            self.receiving.lock().dismiss(endpoint.0);
        }
    }

    #[inline]
    unsafe fn send_inline(
        &self,
        to: Endpoint,
        am: AmId,
        head: u64,
        payload: *const u8,
        bytes: usize,
    ) -> core::result::Result<(), Full> {
        let Some(outbound) = self.outbound.get(to.0 as usize).and_then(|place| place.get()) else {
            return Err(Full);
        };
        // SAFETY: `payload` is readable for `bytes` by the caller's promise.
        if outbound.at_once(|producer, awaited| unsafe { producer.push_at_once(am, head, payload, bytes, awaited) }) {
            return Ok(());
        }
        // SAFETY: `payload` is readable for `bytes` by the caller's promise.
        unsafe { self.send_slowly(outbound, am, head, payload, bytes) }
    }

    fn send(
        &self,
        to: Endpoint,
        am: AmId,
        head: u64,
        bytes: usize,
        fill: &mut dyn FnMut(*mut u8),
    ) -> core::result::Result<(), Full> {
        let Some(outbound) = self.outbound.get(to.0 as usize).and_then(|place| place.get()) else {
            return Err(Full);
        };
        outbound.with(self, |producer, awaited| producer.push(am, head, bytes, awaited, fill))
    }

    fn shared_word(&self, peer: Endpoint, own: bool, index: u32) -> Option<&AtomicU64> {
        if own {
            return self.inbox().shared_word(peer.0, index);
        }
        self.outbound.get(peer.0 as usize)?.get()?.shared_word(index)
    }

    fn poll(&self) -> usize {
        self.receiving.lock().poll(self)
    }

    fn poll_peer(&self, from: Endpoint, polls: u32) -> Option<Arrived<'_>> {
        let peeked = self.receiving.lock().peek(from.0, polls)?;
        Some(Arrived { am: peeked.kind, head: peeked.head, payload: payload(&peeked) })
    }

    fn consume(&self, from: Endpoint) {
        self.receiving.lock().advance(from.0);
        self.note_arrival(from.0);
    }
}

#[cfg(ompi_direct = "btl/sm")]
opal_core::direct_btl!(Sm, |module: *const ()| crate::component::is_own(module));
