//! Every order in which one thread completes what another one is about to sleep for.

use super::*;
use crate::sync::model::{check, spawn};
use crate::sync::raise_threads;
use alloc::boxed::Box;
use alloc::sync::Arc;

/// A word to sleep on. A sleep has no end in a model but being woken.
struct Word(AtomicU32);

impl Bell for Word {
    fn arm(&self, _how: Ring) -> u32 {
        self.0.load(Ordering::SeqCst)
    }

    fn sleep(&self, ticket: u32, at_most_us: u64) -> bool {
        sys::futex_wait(&self.0, ticket, at_most_us)
    }

    fn disarm(&self) -> bool {
        false
    }

    fn rouse(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    fn descriptor(&self) -> Option<i32> {
        None
    }
}

#[test]
fn nobody_sleeps_through_another_threads_completion() {
    check(|| {
        raise_threads();
        set_bell(Box::leak(Box::new(Word(AtomicU32::new(0)))));
        let complete = Arc::new(AtomicBool::new(false));
        let other = spawn({
            let complete = complete.clone();
            move || {
                complete.swap(true, Ordering::SeqCst);
                rouse();
            }
        });
        until(|| complete.load(Ordering::Acquire)).unwrap();
        other.join().unwrap();
    });
}
