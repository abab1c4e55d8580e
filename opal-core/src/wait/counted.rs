//! How long waits took, counted once a tool asks.

use crate::sync::{AtomicBool, AtomicU64, Ordering};
use crate::sys;

static IS_WANTED: AtomicBool = AtomicBool::new(false);
static WAITED_NS: AtomicU64 = AtomicU64::new(0);
static WAITS: AtomicU64 = AtomicU64::new(0);

/// Counts from now on.
pub fn count_waits() -> bool {
    IS_WANTED.store(true, Ordering::Relaxed);
    true
}

/// A wait is over in which nothing had happened since then.
pub fn count_wait(since_ns: u64) {
    // Relaxed: numbers only; several threads may wait.
    if IS_WANTED.load(Ordering::Relaxed) {
        WAITED_NS.fetch_add(sys::monotonic_ns().saturating_sub(since_ns), Ordering::Relaxed);
        WAITS.fetch_add(1, Ordering::Relaxed);
    }
}

/// How long they took together.
pub fn waited_ns() -> u64 {
    WAITED_NS.load(Ordering::Relaxed)
}

/// How many there were.
pub fn waits() -> u64 {
    WAITS.load(Ordering::Relaxed)
}
