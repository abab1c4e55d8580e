//! The accumulate lock of one process's memory: all that combines there holds it once the window's gate is shut ([`super::gate`]), so that
//! accumulates are atomic with each other. It is held for some instructions or copies by the system only, by processes that call nothing else
//! meanwhile.

use opal_core::sync::{AtomicU64, Ordering, spin_loop};
use opal_core::sys;

/// Holds a process's accumulate lock.
pub struct Combining<'a>(&'a AtomicU64);

impl Combining<'_> {
    /// Waits for the lock that is this word.
    #[inline]
    pub fn begin(word: &AtomicU64) -> Combining<'_> {
        let mut tries = 0u32;
        // Acquire pairs with the Release in `drop`.
        while word.swap(1, Ordering::Acquire) != 0 {
            while word.load(Ordering::Relaxed) != 0 {
                tries += 1;
                // Its holder may want this core.
                if tries.is_multiple_of(TRIES_PER_YIELD) { sys::yield_now() } else { spin_loop() }
            }
        }
        Combining(word)
    }
}

impl Drop for Combining<'_> {
    fn drop(&mut self) {
        self.0.store(0, Ordering::Release);
    }
}

const TRIES_PER_YIELD: u32 = 64;
