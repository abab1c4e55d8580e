//! The word on which threads of a model sleep.

use super::{AtomicU32, Ordering};
use crate::sys;
use crate::wait::{WakeMethod, Waker, set_waker};
use alloc::boxed::Box;

/// Gives this order of a model a waker of its own. A sleep has no end in a model but being woken: a lost wake-up is a
/// deadlock, which loom reports.
pub fn hang_bell() {
    set_waker(Box::leak(Box::new(Word(AtomicU32::new(0)))));
}

struct Word(AtomicU32);

impl Waker for Word {
    fn arm(&self, _how: WakeMethod) -> u32 {
        self.0.load(Ordering::SeqCst)
    }

    fn sleep(&self, ticket: u32, at_most_us: u64) -> bool {
        sys::futex_wait(&self.0, ticket, at_most_us)
    }

    fn disarm(&self) -> bool {
        false
    }

    fn wake_threads(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    fn descriptor(&self) -> Option<i32> {
        None
    }
}
