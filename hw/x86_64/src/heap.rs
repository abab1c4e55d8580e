//! A rank's heap: one range of addresses, handed to an allocator piece by piece from the front.
#![allow(unsafe_code)]

use crate::memory::{HEAP, PAGE};
use crate::{eprintln, rank};
use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU64, Ordering};
use dlmalloc::{Allocator, Dlmalloc};

/// Says how many bytes there are at [`HEAP`]. Once, before anything is allocated.
pub fn open(bytes: u64) {
    END.store(HEAP + bytes, Ordering::Relaxed);
}

/// The allocator of a bare image: one core, one thread, no interrupts.
pub struct Heap(UnsafeCell<Dlmalloc<Pieces>>);

// SAFETY: each core has one of its own, with one thread, and the timer's interrupt allocates nothing.
unsafe impl Sync for Heap {}

impl Heap {
    /// Empty.
    pub const fn new() -> Heap {
        Heap(UnsafeCell::new(Dlmalloc::new_with_allocator(Pieces)))
    }

    /// Bytes that no allocation has reached yet.
    pub fn untouched() -> u64 {
        END.load(Ordering::Relaxed).saturating_sub(NEXT.load(Ordering::Relaxed))
    }

    #[allow(clippy::mut_from_ref)]
    fn inner(&self) -> &mut Dlmalloc<Pieces> {
        // SAFETY: one thread, and the allocator calls nothing that allocates.
        unsafe { &mut *self.0.get() }
    }
}

// SAFETY: dlmalloc keeps the contract; `inner` is exclusive.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's layout.
        told(unsafe { self.inner().malloc(layout.size(), layout.align()) }, layout.size())
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: the caller's place and layout.
        unsafe { self.inner().free(place, layout.size(), layout.align()) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's layout.
        told(unsafe { self.inner().calloc(layout.size(), layout.align()) }, layout.size())
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's place and layout.
        told(unsafe { self.inner().realloc(place, layout.size(), layout.align(), size) }, size)
    }
}

/// Says it when there is no place: what follows may be a panic that knows less.
fn told(place: *mut u8, bytes: usize) -> *mut u8 {
    if place.is_null() {
        eprintln!(
            "[rank {}] out of memory: {bytes} bytes wanted, {} of {} MiB were never used; give the machine more memory",
            rank::number(),
            Heap::untouched() >> 20,
            (END.load(Ordering::Relaxed) - HEAP) >> 20
        );
    }
    place
}

/// Memory from the front of the range; nothing comes back.
struct Pieces;

// SAFETY: pieces are disjoint and stay for ever.
unsafe impl Allocator for Pieces {
    fn alloc(&self, bytes: usize) -> (*mut u8, usize, u32) {
        let nothing = (core::ptr::null_mut(), 0, 0);
        let Some(bytes) = bytes.checked_next_multiple_of(PAGE as usize) else { return nothing };
        let start = NEXT.load(Ordering::Relaxed);
        match start.checked_add(bytes as u64).filter(|end| *end <= END.load(Ordering::Relaxed)) {
            Some(end) => {
                NEXT.store(end, Ordering::Relaxed);
                (start as *mut u8, bytes, 0)
            }
            None => nothing,
        }
    }

    fn remap(&self, _: *mut u8, _: usize, _: usize, _: bool) -> *mut u8 {
        core::ptr::null_mut()
    }

    fn free_part(&self, _: *mut u8, _: usize, _: usize) -> bool {
        false
    }

    fn free(&self, _: *mut u8, _: usize) -> bool {
        false
    }

    fn can_release_part(&self, _: u32) -> bool {
        false
    }

    fn allocates_zeros(&self) -> bool {
        // A machine's memory holds whatever was there before.
        false
    }

    fn page_size(&self) -> usize {
        PAGE as usize
    }
}

static NEXT: AtomicU64 = AtomicU64::new(HEAP);
static END: AtomicU64 = AtomicU64::new(HEAP);
