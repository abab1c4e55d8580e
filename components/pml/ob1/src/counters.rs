//! What is counted for [`crate::pvars`], with the state's lock held and on no fast path.

use opal_core::mca::pvar::{Counter, Level};
use opal_core::sync::{AtomicBool, Ordering};

/// Messages and RTS that no receive has matched yet, those of collectives included.
pub static UNEXPECTED: Level = Level::new();
/// Memory of eager messages that no receive has matched yet.
pub static UNEXPECTED_MEMORY: Level = Level::new();
/// How often a message was unexpected.
pub static WERE_UNEXPECTED: Counter = Counter::new();
/// Receives that are posted and not matched yet: counted only while [`POSTED_WANTED`].
pub static POSTED: Level = Level::new();
/// A tool wants to know the most receives that were posted. Rises only.
pub static POSTED_WANTED: AtomicBool = AtomicBool::new(false);
/// RTS that were sent.
pub static RTS_SENT: Counter = Counter::new();
/// Receives of long messages, by protocol.
pub static SINGLE_COPIES: Counter = Counter::new();
/// Read by this process through a transport.
pub static GETS: Counter = Counter::new();
/// As fragments.
pub static FRAGMENTED: Counter = Counter::new();
/// As fragments that are stored around the cache.
pub static STREAMED: Counter = Counter::new();

/// Messages that arrived damaged, and single copies.
pub static DAMAGED: Counter = Counter::new();
/// Messages that were sent again because of that, or because nothing was said of them.
pub static SENT_AGAIN: Counter = Counter::new();

/// Entries of lists that were compared with a message or a receive: counted only while [`POSTED_WANTED`].
pub static COMPARED: Counter = Counter::new();

/// So many entries of a list were compared with a message or a receive.
#[inline(always)]
pub fn count_compared(entries: usize) {
    if POSTED_WANTED.load(Ordering::Relaxed) {
        COMPARED.add(entries as u64);
    }
}

/// A receive was posted.
#[inline(always)]
pub fn count_posted() {
    // Relaxed: written under the state's lock, too.
    if POSTED_WANTED.load(Ordering::Relaxed) {
        POSTED.add(1);
    }
}

/// A posted receive was matched or cancelled.
#[inline(always)]
pub fn uncount_posted() {
    if POSTED_WANTED.load(Ordering::Relaxed) {
        POSTED.take(1);
    }
}
