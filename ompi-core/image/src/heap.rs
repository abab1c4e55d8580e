//! The library's heap: one allocator behind one lock.
//!
//! The lock of dlmalloc's own global allocator is a mutex of the C library, two function calls around each piece of memory.
//! This one is a flag, which a process with one thread leaves alone. Small blocks that were freed are kept in [`FreeBlocks`] for the next allocations of their size.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use dlmalloc::Dlmalloc;
use opal_core::mem::free_blocks::{self, ALIGN, FreeBlocks};
use opal_core::sync::{AtomicBool, Ordering, spin_loop};
use opal_core::sys;

/// The global allocator.
pub struct Heap {
    held: AtomicBool,
    inner: UnsafeCell<Inner>,
}

struct Inner {
    free_blocks: FreeBlocks,
    all: Dlmalloc,
}

// SAFETY: `inner` is used by whoever holds it only.
unsafe impl Sync for Heap {}

impl Heap {
    /// Empty.
    pub const fn new() -> Heap {
        let inner = Inner { free_blocks: FreeBlocks::new(), all: Dlmalloc::new() };
        Heap { held: AtomicBool::new(false), inner: UnsafeCell::new(inner) }
    }

    /// Runs `act` while no other thread is inside. It must neither allocate nor panic.
    #[inline(always)]
    fn with<R>(&self, act: impl FnOnce(&mut Inner) -> R) -> R {
        if sys::is_single_threaded() {
            // SAFETY: nobody else runs, and `act` calls nothing that could come back.
            return act(unsafe { &mut *self.inner.get() });
        }
        // Acquire pairs with the Release below.
        if self.held.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_err() {
            self.wait();
        }
        // SAFETY: `held` is set, so that this is the only reference.
        let done = act(unsafe { &mut *self.inner.get() });
        self.held.store(false, Ordering::Release);
        done
    }

    #[cold]
    #[inline(never)]
    fn wait(&self) {
        let mut polls = 0u32;
        // Acquire as above.
        while self.held.compare_exchange_weak(false, true, Ordering::Acquire, Ordering::Relaxed).is_err() {
            polls += 1;
            if polls.is_multiple_of(64) {
                // The thread that holds it may need this core.
                sys::yield_now();
            } else {
                spin_loop();
            }
        }
    }
}

impl Inner {
    #[inline(always)]
    fn alloc(&mut self, layout: Layout) -> *mut u8 {
        let Some(bin) = free_blocks::of(layout) else {
            // SAFETY: the layout is not empty, by the contract of `GlobalAlloc`.
            return unsafe { self.all.malloc(layout.size(), layout.align()) };
        };
        match self.free_blocks.take(bin) {
            Some(block) => block,
            // SAFETY: as above.
            None => unsafe { self.all.malloc(free_blocks::bytes(bin), ALIGN) },
        }
    }

    /// # Safety
    /// The block is of `alloc` with this layout, and nobody uses it any more.
    #[inline(always)]
    unsafe fn free(&mut self, place: *mut u8, layout: Layout) {
        match free_blocks::of(layout) {
            // SAFETY: the caller's promise; each block of a bin has its size.
            Some(bin) if unsafe { self.free_blocks.keep(bin, place) } => {}
            // SAFETY: as above, allocated so.
            Some(bin) => unsafe { self.all.free(place, free_blocks::bytes(bin), ALIGN) },
            // SAFETY: as above.
            None => unsafe { self.all.free(place, layout.size(), layout.align()) },
        }
    }
}

// SAFETY: dlmalloc and the free blocks keep the contract; layouts and places are the callers'.
unsafe impl GlobalAlloc for Heap {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.with(|heap| heap.alloc(layout))
    }

    #[inline]
    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: the caller's place and layout.
        self.with(|heap| unsafe { heap.free(place, layout) })
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if free_blocks::of(layout).is_none() {
            // SAFETY: the caller's layout.
            return self.with(|heap| unsafe { heap.all.calloc(layout.size(), layout.align()) });
        }
        let place = self.with(|heap| heap.alloc(layout));
        if !place.is_null() {
            // SAFETY: a new block of this size.
            unsafe { place.write_bytes(0, layout.size()) };
        }
        place
    }

    #[inline]
    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's promise: no overflow.
        let wanted = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        match (free_blocks::of(layout), free_blocks::of(wanted)) {
            // SAFETY: the caller's place, layout and size.
            (None, None) => self.with(|heap| unsafe { heap.all.realloc(place, layout.size(), layout.align(), size) }),
            (old, new) if old == new => place,
            _ => self.with(|heap| {
                let moved = heap.alloc(wanted);
                if !moved.is_null() {
                    // SAFETY: both blocks are as long as the shorter one.
                    unsafe { moved.copy_from_nonoverlapping(place, size.min(layout.size())) };
                    // SAFETY: the caller's place and layout; it has another place now.
                    unsafe { heap.free(place, layout) };
                }
                moved
            }),
        }
    }
}
