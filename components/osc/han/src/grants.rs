//! What this process knows of the locks that it asked for. Another component asks, and need not wait for the answer before the first
//! access; until the lock is known to be granted nothing may be loaded or stored.

use alloc::boxed::Box;
use opal_core::sync::{AtomicU8, Ordering};

/// By rank.
pub struct Grants(Box<[AtomicU8]>);

impl Grants {
    /// Nothing was asked for.
    pub fn new(ranks: usize) -> Grants {
        Grants((0..ranks).map(|_| AtomicU8::new(KNOWN)).collect())
    }

    /// A lock of the rank was asked for.
    pub fn ask(&self, rank: usize) {
        self.0[rank].store(ASKED, Ordering::Relaxed);
    }

    /// Whether this process has the lock that it asked for, or asked for none.
    #[inline]
    pub fn is_known(&self, rank: usize) -> bool {
        self.0[rank].load(Ordering::Relaxed) == KNOWN
    }

    /// An access was asked for, which is done when the lock is granted.
    pub fn note_access(&self, rank: usize) {
        let _known = self.0[rank].compare_exchange(ASKED, USED, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// A flush begins, which completes the accesses that were noted.
    pub fn begin_flush(&self, rank: usize) {
        let _other = self.0[rank].compare_exchange(USED, FLUSHING, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// The flush is over: whatever was asked for when it began is done.
    pub fn note_flush(&self, rank: usize) {
        let _other = self.0[rank].compare_exchange(FLUSHING, KNOWN, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// The lock was given back.
    pub fn end(&self, rank: usize) {
        self.0[rank].store(KNOWN, Ordering::Relaxed);
    }
}

const KNOWN: u8 = 0;
/// Nothing tells when it is granted.
const ASKED: u8 = 1;
/// It is granted when the accesses behind it are done.
const USED: u8 = 2;
/// It is granted when the flush is over that began behind such an access.
const FLUSHING: u8 = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_known_when_an_access_behind_it_is_done() {
        let grants = Grants::new(2);
        grants.note_access(0);
        assert!(grants.is_known(0));
        grants.ask(0);
        grants.begin_flush(0);
        grants.note_flush(0);
        assert!(!grants.is_known(0) && grants.is_known(1), "a flush of nothing tells nothing");
        grants.note_access(0);
        grants.note_flush(0);
        assert!(!grants.is_known(0), "the access came after the flush had begun");
        grants.begin_flush(0);
        assert!(!grants.is_known(0));
        grants.note_flush(0);
        assert!(grants.is_known(0));
        grants.ask(1);
        grants.end(1);
        assert!(grants.is_known(1));
    }
}
