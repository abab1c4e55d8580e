//! Whether a flush of memory that this process stores to itself needs a full fence: only if something was stored since the last one. Locked
//! instructions are fences, too, so that an accumulate by one of them and its flush need no second one, and a loop of gets and flushes none.

use opal_core::sync::{AtomicU32, Ordering, fence, threads_possible};

/// Of one window.
#[derive(Default)]
pub struct Unfenced(AtomicU32);

impl Unfenced {
    /// Something was stored in the memory of a target, or may have been.
    #[inline(always)]
    pub fn note_store(&self) {
        self.0.store(1, Ordering::Relaxed);
    }

    /// What was stored before is seen by all before this thread looks at anything.
    #[inline(always)]
    pub fn note_fence(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    /// Two processes that store to each other's memory, flush, and then look do not both find the old values.
    #[inline(always)]
    pub fn flush(&self) {
        // What another thread has fenced were its own stores.
        if threads_possible() || self.0.load(Ordering::Relaxed) != 0 {
            fence(Ordering::SeqCst);
            self.note_fence();
        }
    }
}
