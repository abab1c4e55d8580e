//! Mappings of a board's file: words and queues at offsets.
#![allow(unsafe_code)]

use alloc::boxed::Box;
use opal_core::queue::fifo::{Memory, SLOT_RING_BYTES};
use opal_core::sync::{AtomicU32, AtomicU64};
use rustix::fd::BorrowedFd;
use rustix::mm::{MapFlags, ProtFlags};

/// Frees what a box was leaked to.
///
/// # Safety
/// It was, and nobody uses it any more.
pub unsafe fn free<T>(leaked: &'static T) {
    // SAFETY: the caller's promise.
    drop(unsafe { Box::from_raw(core::ptr::from_ref(leaked).cast_mut()) });
}

/// A part of a file, mapped. Its addresses stay valid for the life of the process: [`Mapping::abandon`] puts memory of the process's
/// own in its place.
#[derive(Clone, Copy, Debug)]
pub struct Mapping {
    base: *mut u8,
    bytes: usize,
}

// SAFETY: an address range that stays mapped; it is touched as atomic words and by queues only.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

/// Maps a part of a file that nobody can cut off, at the place of an abandoned mapping of this length if there is one.
pub fn map(file: BorrowedFd<'_>, offset: usize, bytes: usize, again: Option<Mapping>) -> rustix::io::Result<Mapping> {
    let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED | MapFlags::NORESERVE);
    let (at, flags) = match again {
        Some(place) if place.bytes == bytes => (place.base, flags | MapFlags::FIXED),
        _ => (core::ptr::null_mut(), flags),
    };
    // SAFETY: a new mapping at an address of the kernel's choice, or in the place of one that `abandon` gave up.
    let base = unsafe { rustix::mm::mmap(at.cast(), bytes, protection, flags, file, offset as u64) }?;
    Ok(Mapping { base: base.cast(), bytes })
}

impl Mapping {
    /// The word at an offset.
    ///
    /// # Panics
    /// If there is no aligned word: offsets come from the layout, never from a peer.
    #[inline(always)]
    pub fn word32(&self, offset: usize) -> &'static AtomicU32 {
        assert!(offset.is_multiple_of(4) && offset + 4 <= self.bytes);
        // SAFETY: aligned and within the mapping, by the check above and because mappings begin on pages; it is never unmapped.
        unsafe { &*self.base.wrapping_add(offset).cast::<AtomicU32>() }
    }

    /// The word at an offset.
    ///
    /// # Panics
    /// As [`Mapping::word32`].
    #[inline(always)]
    pub fn word64(&self, offset: usize) -> &'static AtomicU64 {
        assert!(offset.is_multiple_of(8) && offset + 8 <= self.bytes);
        // SAFETY: as in `word32`.
        unsafe { &*self.base.wrapping_add(offset).cast::<AtomicU64>() }
    }

    /// The queue whose areas begin at these offsets.
    ///
    /// # Panics
    /// If they are not all in the mapping.
    pub fn queue(&self, slots: usize, (ring, ring_bytes): (usize, usize), consumed: usize) -> Memory {
        assert!(slots + SLOT_RING_BYTES <= self.bytes && ring + ring_bytes <= self.bytes);
        assert!(slots.is_multiple_of(64) && consumed.is_multiple_of(4) && consumed + 4 <= self.bytes);
        let at = |offset: usize| self.base.wrapping_add(offset);
        // SAFETY: the asserts above; never unmapped; only queues get these areas.
        unsafe { Memory::new(at(slots), at(ring), ring_bytes, at(consumed)) }
    }

    /// Gives the file's pages back. Who still has an address in it finds zeros of this process's own.
    pub fn abandon(self) {
        let (protection, flags) =
            (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE | MapFlags::NORESERVE | MapFlags::FIXED);
        // SAFETY: the place of a mapping of ours; what pointed into it points to zeroed memory from now on, which is what any
        // peer could have made of it.
        let mapped = unsafe { rustix::mm::mmap_anonymous(self.base.cast(), self.bytes, protection, flags) };
        debug_assert!(mapped.is_ok());
    }
}
