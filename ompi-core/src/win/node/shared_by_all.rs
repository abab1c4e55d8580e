//! A shared lock of all processes' memory at once. Who has it counts it in a word of its own process, and takes no ticket of the locks of
//! single processes (`ticket.rs`). One who wants one of those alone takes its ticket first, then waits until nobody has the shared lock of all;
//! who wants that one finds the ticket, and takes a shared lock of each process in turn. So neither is overtaken without end: a waiting writer
//! waits for those only that were there before its ticket, and those that come later stand behind it.
//!
//! Each side changes a word of its own and then looks at the other's: at least one sees the other. Whether there was ever a writer, and
//! whether anybody ever wanted all, stands in one word more, so that a window that sees only one of the two never looks further.

use super::ticket::{Ticket, seen_by_all};
use opal_core::sync::{AtomicU64, Ordering};

/// The words of all locks of a window.
pub trait LockWords {
    /// How many processes there are.
    fn ranks(&self) -> usize;

    /// The lock of one process's memory.
    fn ticket(&self, rank: usize) -> Ticket<'_>;

    /// How many shared locks of all a process has.
    fn shares_all(&self, rank: usize) -> &AtomicU64;

    /// Which kinds of locks were ever asked for.
    fn asked(&self) -> &AtomicU64;
}

/// Takes a shared lock of all for rank `me`, if nobody has a ticket to have one of them alone; `wake` wakes those that wait.
pub fn try_share(words: &impl LockWords, me: usize, wake: impl FnOnce()) -> bool {
    note(words, ALL);
    words.shares_all(me).fetch_add(1, Ordering::SeqCst);
    seen_by_all();
    let is_shared = !is_wanted_alone(words);
    if !is_shared {
        // A writer may have seen it.
        words.shares_all(me).fetch_sub(1, Ordering::SeqCst);
        wake();
    }
    is_shared
}

/// Gives it back.
pub fn end_share(words: &impl LockWords, me: usize, wake: impl FnOnce()) {
    // Release, as part of SeqCst, pairs with the Acquire in `first_sharer`.
    words.shares_all(me).fetch_sub(1, Ordering::SeqCst);
    seen_by_all();
    if is_wanted_alone(words) {
        wake();
    }
}

/// Before one takes a ticket to have memory alone.
pub fn note_writer(words: &impl LockWords) {
    note(words, ALONE);
}

/// Whether somebody asked for memory alone before, and nobody ever for a shared lock of all: then one who takes a ticket to have memory alone,
/// and finds it so once more, waits for no such lock.
pub fn is_for_single_locks(words: &impl LockWords) -> bool {
    words.asked().load(Ordering::SeqCst) == ALONE
}

/// The first process that has a shared lock of all: whom one who has its turn to have memory alone waits for.
pub fn first_sharer(words: &impl LockWords) -> Option<usize> {
    if words.asked().load(Ordering::SeqCst) & ALL == 0 {
        return None;
    }
    // Acquire, as part of SeqCst, pairs with the Release of those that gave it back.
    (0..words.ranks()).find(|rank| words.shares_all(*rank).load(Ordering::SeqCst) != 0)
}

fn is_wanted_alone(words: &impl LockWords) -> bool {
    words.asked().load(Ordering::SeqCst) & ALONE != 0 && (0..words.ranks()).any(|rank| !words.ticket(rank).is_idle())
}

/// Sets a bit of the word that never loses any; a load is all it takes from the second time on.
#[inline]
fn note(words: &impl LockWords, kind: u64) {
    if words.asked().load(Ordering::SeqCst) & kind == 0 {
        words.asked().fetch_or(kind, Ordering::SeqCst);
        seen_by_all();
    }
}

const ALL: u64 = 1;
const ALONE: u64 = 2;
