//! A ticket lock for readers and writers, of three words: everybody takes a ticket; a reader that has its turn at once lets the next
//! reader have its own, and who leaves lets the next writer have its own when all before it have left. Nobody overtakes.
//!
//! Whoever changes a word wakes the others only if somebody has taken a ticket meanwhile. So each side changes one word and then looks
//! at the other's: SeqCst on all four, since with less both might find the old value, and nobody would wake the one that
//! sleeps.

use crate::error::Result;
use crate::framework::osc::Lock;
use opal_core::sync::{AtomicU64, Ordering, compiler_fence};

/// The words of one lock.
#[derive(Clone, Copy)]
pub struct Ticket<'a> {
    /// The next ticket.
    pub next: &'a AtomicU64,
    /// The ticket that may share the lock.
    pub may_share: &'a AtomicU64,
    /// The ticket that may have it alone.
    pub may_own: &'a AtomicU64,
}

impl Ticket<'_> {
    /// Takes the lock. `wait` returns once what it is given is true; `wake` wakes those that wait.
    pub fn lock(
        self,
        lock: Lock,
        wait: impl FnOnce(&dyn Fn() -> bool) -> Result<()>,
        wake: impl FnOnce(),
    ) -> Result<()> {
        let ticket = self.next.fetch_add(1, Ordering::SeqCst);
        seen_by_all();
        // Acquire, as part of SeqCst, pairs with the Release of all that changed the word: what was done under the lock before is seen.
        match lock {
            Lock::Exclusive => wait(&|| self.may_own.load(Ordering::SeqCst) == ticket),
            Lock::Shared => {
                wait(&|| self.may_share.load(Ordering::SeqCst) == ticket)?;
                self.may_share.fetch_add(1, Ordering::SeqCst);
                self.wake_others(ticket + 1, wake);
                Ok(())
            }
        }
    }

    /// Takes the lock if its turn is now; otherwise there is no ticket.
    #[inline]
    pub fn try_lock(self, lock: Lock, wake: impl FnOnce()) -> bool {
        let turn = if lock == Lock::Exclusive { self.may_own } else { self.may_share };
        // Acquire, here and as part of SeqCst, as in `lock`.
        let ticket = turn.load(Ordering::Acquire);
        // A turn comes before its ticket at most: what was a turn is one until its ticket is taken.
        if self.next.compare_exchange(ticket, ticket + 1, Ordering::SeqCst, Ordering::Relaxed).is_err() {
            return false;
        }
        seen_by_all();
        if lock == Lock::Shared {
            self.may_share.fetch_add(1, Ordering::SeqCst);
            self.wake_others(ticket + 1, wake);
        }
        true
    }

    /// Gives the lock back.
    #[inline]
    pub fn unlock(self, lock: Lock, wake: impl FnOnce()) {
        if lock == Lock::Exclusive {
            // Nobody else changes it: readers before have, and those behind wait for this. What comes next shows it to all.
            let turn = self.may_share.load(Ordering::Relaxed) + 1;
            self.may_share.store(turn, Ordering::Release);
        }
        let turn = self.may_own.fetch_add(1, Ordering::SeqCst) + 1;
        self.wake_others(turn, wake);
    }

    /// Whether nobody has the lock alone, and nobody waits for it. What was done under it before is seen then.
    pub fn is_idle(self) -> bool {
        // Each ticket lets the next reader have its turn once: those are as many as there are tickets when none is left that holds readers up.
        let tickets = self.next.load(Ordering::SeqCst);
        // Acquire, as part of SeqCst, pairs with the Release of those that gave it back.
        self.may_share.load(Ordering::SeqCst) == tickets
    }

    /// Wakes those whose turn it may be, if somebody has the ticket of this turn.
    fn wake_others(self, turn: u64, wake: impl FnOnce()) {
        seen_by_all();
        if self.next.load(Ordering::SeqCst) != turn {
            wake();
        }
    }
}

/// Between two SeqCst accesses, the first of which changes a word: nothing is missing there. Models take SeqCst for no more than AcqRel, and
/// this for a full fence.
pub fn seen_by_all() {
    compiler_fence(Ordering::SeqCst);
}
