//! Marks of partitioned sends that are under way, found by their handles, so that MPI_Pready is a few instructions where there is one
//! thread: a bit for each partition, 64 in a word, of the last word those behind the last partition set.
//!
//! **Invariant:** the words of a send that is kept are there until it is forgotten. The mark that makes a word full is left to the
//! component, and so are every mark where there are threads, and those of partitions that the component sees itself.
#![allow(unsafe_code)] // words that the component keeps

use super::Id;
use opal_core::sync::{AtomicPtr, AtomicU64, AtomicUsize, Ordering, threads_possible};

struct Kept {
    handle: AtomicUsize,
    words: AtomicPtr<AtomicU64>,
    partitions: AtomicUsize,
    closed: AtomicUsize,
}

static KEPT: [Kept; PLACES] = [const { Kept::none() }; PLACES];

impl Kept {
    const fn none() -> Kept {
        Kept {
            handle: AtomicUsize::new(0),
            words: AtomicPtr::new(core::ptr::null_mut()),
            partitions: AtomicUsize::new(0),
            closed: AtomicUsize::new(0),
        }
    }

    #[inline(always)]
    fn mark(&self, handle: usize, partition: usize) -> bool {
        // Relaxed, here and below: one thread.
        if self.handle.load(Ordering::Relaxed) != handle || partition >= self.partitions.load(Ordering::Relaxed) {
            return false;
        }
        let closed = self.closed.load(Ordering::Relaxed);
        if partition & closed == closed {
            return false;
        }
        // SAFETY: by the promise made to `keep_marks` there are words for so many partitions.
        let word = unsafe { self.words.load(Ordering::Relaxed).add(partition / WIDTH) };
        // SAFETY: by the same promise it is there until `forget_marks`.
        let word = unsafe { &*word };
        let (before, mask) = (word.load(Ordering::Relaxed), 1 << (partition % WIDTH));
        let after = before | mask;
        if before & mask != 0 || after == u64::MAX {
            return false;
        }
        word.store(after, Ordering::Relaxed);
        true
    }
}

/// Marks one partition of a send that is under way. `false`: nothing was done, and its component is to be asked.
#[inline(always)]
pub(super) fn mark(handle: usize, partition: usize) -> bool {
    !threads_possible() && KEPT[handle % PLACES].mark(handle, partition)
}

/// From now on marks of this send go into these words, unless there are threads: but for those of partitions in whose numbers all bits
/// of `closed` are set.
///
/// # Safety
/// There are words for so many partitions, and they stay until the request is forgotten.
pub unsafe fn keep_marks(id: Id, words: &[AtomicU64], partitions: usize, closed: usize) {
    let handle = id.0 as usize;
    let kept = &KEPT[handle % PLACES];
    kept.handle.store(handle, Ordering::Relaxed);
    kept.words.store(words.as_ptr().cast_mut(), Ordering::Relaxed);
    kept.partitions.store(partitions, Ordering::Relaxed);
    kept.closed.store(closed, Ordering::Relaxed);
}

/// The words of this send go.
pub fn forget_marks(id: Id) {
    let kept = &KEPT[id.0 as usize % PLACES];
    if kept.handle.load(Ordering::Relaxed) == id.0 as usize {
        kept.partitions.store(0, Ordering::Relaxed);
    }
}

/// Numbers of requests follow each other.
const PLACES: usize = 8;
const WIDTH: usize = u64::BITS as usize;

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn all_but_the_last_of_a_word() {
        let words = [const { AtomicU64::new(0) }; 2];
        let (first, other) = (Id(77_008), Id(77_016));
        words[1].store(!0b11, Ordering::Relaxed);
        // SAFETY: the words outlive `forget_marks`; 66 partitions are in two.
        unsafe { keep_marks(first, &words, 66, usize::MAX) };
        // Whether there are threads is other tests' business.
        let marked = |of: Id, partition| KEPT[of.0 as usize % PLACES].mark(of.0 as usize, partition);
        let mark = |partition| marked(first, partition);
        assert!(mark(3) && !mark(3), "once");
        assert!(!mark(66) && !mark(usize::MAX), "none of these exists");
        assert!(mark(64) && !mark(65), "the last one of a word");
        assert_eq!(words.each_ref().map(|word| word.load(Ordering::Relaxed)), [1 << 3, !0b10]);
        assert!(!marked(other, 5));
        forget_marks(other);
        assert!(mark(4));
        // SAFETY: as above.
        unsafe { keep_marks(first, &words, 66, 7) };
        assert!(!mark(7) && !mark(15) && mark(14) && mark(16), "its component sees every eighth");
        // SAFETY: as above.
        unsafe { keep_marks(first, &words, 66, 0) };
        assert!(!mark(17), "its component sees all");
        forget_marks(first);
        assert!(!mark(5));
    }
}
