//! The library's heap: one allocator behind one lock.
//!
//! The lock of dlmalloc's own global allocator is a mutex of the C library, two function calls around each piece of memory.
//! This one is a flag: MPI_Comm_create_errhandler and MPI_Errhandler_free take 379 instead of 493 instructions.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use dlmalloc::Dlmalloc;
use opal_core::sync::{AtomicBool, Ordering, spin_loop};
use opal_core::sys;

/// The global allocator.
pub struct Heap {
    held: AtomicBool,
    inner: UnsafeCell<Dlmalloc>,
}

// SAFETY: `inner` is used by whoever holds it only.
unsafe impl Sync for Heap {}

impl Heap {
    /// Empty.
    pub const fn new() -> Heap {
        Heap { held: AtomicBool::new(false), inner: UnsafeCell::new(Dlmalloc::new()) }
    }

    /// Runs `act` while no other thread is inside. It must neither allocate nor panic.
    #[inline(always)]
    fn with<R>(&self, act: impl FnOnce(&mut Dlmalloc) -> R) -> R {
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

// SAFETY: dlmalloc keeps the contract; layouts and places are the callers'.
unsafe impl GlobalAlloc for Heap {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's layout.
        self.with(|heap| unsafe { heap.malloc(layout.size(), layout.align()) })
    }

    #[inline]
    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: the caller's place and layout.
        self.with(|heap| unsafe { heap.free(place, layout.size(), layout.align()) })
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's layout.
        self.with(|heap| unsafe { heap.calloc(layout.size(), layout.align()) })
    }

    #[inline]
    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's place, layout and size.
        self.with(|heap| unsafe { heap.realloc(place, layout.size(), layout.align(), size) })
    }
}
