//! What is told of memory that goes: a ring of fixed length with many writers and one reader.

use opal_core::sync::{AtomicBool, AtomicUsize, Ordering};

/// Notices that were not taken yet.
pub struct Notices<const SLOTS: usize> {
    slots: [Slot; SLOTS],
    /// Where the next one goes; counts on for ever.
    tail: AtomicUsize,
    /// Where the next one is taken; written by whoever takes.
    head: AtomicUsize,
    /// One had no room.
    is_lost: AtomicBool,
}

struct Slot {
    // Twice the lap, and one more when it is written.
    turn: AtomicUsize,
    start: AtomicUsize,
    end: AtomicUsize,
}

/// What is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// Memory from the first to before the second address goes.
    Range(usize, usize),
    /// It is not known what else: any memory may go.
    Everything,
}

impl<const SLOTS: usize> Notices<SLOTS> {
    /// None.
    pub const fn new() -> Notices<SLOTS> {
        let slots =
            [const { Slot { turn: AtomicUsize::new(0), start: AtomicUsize::new(0), end: AtomicUsize::new(0) } }; SLOTS];
        Notices { slots, tail: AtomicUsize::new(0), head: AtomicUsize::new(0), is_lost: AtomicBool::new(false) }
    }

    /// Tells of a range. Neither waits nor allocates.
    pub fn tell(&self, start: usize, end: usize) {
        loop {
            let at = self.tail.load(Ordering::Relaxed);
            let (slot, free) = (&self.slots[at % SLOTS], at / SLOTS * 2);
            // Acquire pairs with the Release in `take`: what was there has been read.
            let turn = slot.turn.load(Ordering::Acquire);
            if turn > free {
                // Another writer has taken the place meanwhile.
                continue;
            }
            if turn < free {
                // Release pairs with the Acquire in `take`.
                return self.is_lost.store(true, Ordering::Release);
            }
            // Release: whoever takes sees that something is there even if it is not written yet.
            if self.tail.compare_exchange(at, at + 1, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                slot.start.store(start, Ordering::Relaxed);
                slot.end.store(end, Ordering::Relaxed);
                // Release pairs with the Acquire in `take`: the range is there.
                return slot.turn.store(free + 1, Ordering::Release);
            }
        }
    }

    /// Whether nothing was told. Only for whoever takes.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.head.load(Ordering::Relaxed) == self.tail.load(Ordering::Acquire) && !self.is_lost.load(Ordering::Acquire)
    }

    /// Takes what was told, in order. One at a time.
    pub fn take(&self, mut each: impl FnMut(Notice)) {
        if self.is_lost.swap(false, Ordering::AcqRel) {
            each(Notice::Everything);
        }
        let tail = self.tail.load(Ordering::Acquire);
        let mut head = self.head.load(Ordering::Relaxed);
        while head != tail {
            let (slot, written) = (&self.slots[head % SLOTS], head / SLOTS * 2 + 1);
            if slot.turn.load(Ordering::Acquire) != written {
                // Behind it may stand one that its writer has told, and relies on.
                each(Notice::Everything);
                break;
            }
            each(Notice::Range(slot.start.load(Ordering::Relaxed), slot.end.load(Ordering::Relaxed)));
            slot.turn.store(written + 1, Ordering::Release);
            head += 1;
        }
        self.head.store(head, Ordering::Relaxed);
    }
}
