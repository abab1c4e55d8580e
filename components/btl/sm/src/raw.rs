//! Access to a mapped segment: words, areas and queues at offsets.
#![allow(unsafe_code)]

use opal_core::framework::shmem::Segment;
use opal_core::queue::fifo::{Memory, SLOT_RING_BYTES};
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

    /// Length in bytes.
    pub fn bytes(&self) -> usize {
        self.segment.bytes
    }

    /// The 32-bit word at an offset.
    #[inline(always)]
    pub fn word32(&self, offset: usize) -> &AtomicU32 {
        debug_assert!(offset.is_multiple_of(4) && offset + 4 <= self.segment.bytes);
        // SAFETY: offsets come from `wire`, aligned and below `segment_bytes`, which `RxSegment::new` checked; the segment
        // is page-aligned and is never detached.
        unsafe { &*self.segment.base.wrapping_add(offset).cast::<AtomicU32>() }
    }

    /// The 32-bit word at an offset, for a caller that keeps it.
    pub fn static_word32(&self, offset: usize) -> &'static AtomicU32 {
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

    /// The queue whose areas begin at these offsets, the payload ring with its length.
    pub fn queue(&self, slots: usize, (pool, payload_ring_bytes): (usize, usize), consumed: usize) -> Memory {
        assert!(slots + SLOT_RING_BYTES <= self.segment.bytes && pool + payload_ring_bytes <= self.segment.bytes);
        assert!(slots.is_multiple_of(64) && consumed.is_multiple_of(4) && consumed + 4 <= self.segment.bytes);
        let base = self.segment.base;
        let (slots, pool) = (base.wrapping_add(slots), base.wrapping_add(pool));
        // SAFETY: the asserts above; the segment is never detached; only queues get these areas.
        unsafe { Memory::new(slots, pool, payload_ring_bytes, base.wrapping_add(consumed)) }
    }
}
