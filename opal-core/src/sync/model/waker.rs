//! A waker for models: the word on which the threads of a model sleep.

use super::{AtomicU32, Ordering};
use crate::sys;
use crate::wait::{WakeMethod, Waker, set_waker};
use alloc::boxed::Box;

/// Gives this order of a model a waker of its own. In a model only a wake-up ends a sleep: a lost one is a deadlock,
/// which loom reports.
pub fn set_model_waker() {
    set_waker(Box::leak(Box::new(ModelWaker(AtomicU32::new(0)))));
}

struct ModelWaker(AtomicU32);

impl Waker for ModelWaker {
    fn arm(&self, _how: WakeMethod, _awaits_room: bool) -> u32 {
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
