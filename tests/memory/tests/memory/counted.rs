//! What was allocated and is not free again, and what of it takes memory.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicI64, Ordering};

/// Two measures of memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Bytes {
    /// Allocated.
    pub live: i64,
    /// Of pages that the process has written to and nobody else has.
    pub resident: i64,
}

struct Counting;

static LIVE: AtomicI64 = AtomicI64::new(0);

#[global_allocator]
static COUNTING: Counting = Counting;

// SAFETY: the system's, but for counting.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(layout.size() as i64, Ordering::Relaxed);
        // SAFETY: the caller's layout.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(layout.size() as i64, Ordering::Relaxed);
        // SAFETY: the caller's layout.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size() as i64, Ordering::Relaxed);
        // SAFETY: the caller's place and layout.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        LIVE.fetch_add(size as i64 - layout.size() as i64, Ordering::Relaxed);
        // SAFETY: the caller's place, layout and size.
        unsafe { System.realloc(at, layout, size) }
    }
}

/// Allocated now.
pub fn live() -> i64 {
    LIVE.load(Ordering::Relaxed)
}

/// Resident now, in bytes: `Anonymous` of /proc/self/smaps_rollup (proc_pid_smaps(5)).
pub fn resident() -> i64 {
    let text = std::fs::read_to_string("/proc/self/smaps_rollup").expect("the system says what is resident");
    let line = text.lines().find_map(|line| line.strip_prefix("Anonymous:")).expect("a line of it");
    let kib: i64 = line.trim().trim_end_matches(" kB").parse().expect("a number of KiB");
    kib * 1024
}
