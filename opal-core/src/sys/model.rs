//! The part of the system that a model needs. A sleep ends only by a wake-up, so a thread that nothing wakes is found.

pub use crate::sync::model::{monotonic_ns, yield_now};
use crate::sync::{AtomicU32, Ordering, fence};

/// See [`crate::sync::compiler_fence`] for the other side.
pub fn membarrier() -> bool {
    fence(Ordering::SeqCst);
    true
}

/// Sleeps while `word` holds `value`; the system's own accesses are ordered with everything.
pub fn futex_wait(word: &AtomicU32, value: u32, _at_most_us: u64) -> bool {
    fence(Ordering::SeqCst);
    while word.load(Ordering::Acquire) == value {
        yield_now();
    }
    true
}

/// Models have one waker.
pub fn futex_wait_two(_words: [(&AtomicU32, u32); 2], _at_most_us: u64) -> Option<bool> {
    None
}

/// Sleepers look at the word.
pub fn futex_wake(_word: &AtomicU32) {}

/// Models raise the level of threads before there are any.
pub fn let_threads_run(_for_ns: u64) {}
