//! The words of synchronisation of one process, which all others reach: its passive lock, its accumulate lock, and for each rank how often
//! that one has posted for it, and completed.

use alloc::boxed::Box;
use opal_core::sync::AtomicU64;

/// Which word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// `locks.rs`.
    Lock,
    /// 0, or 1 more than the rank that combines.
    AccumulateLock,
    /// Posts by this rank, for the process whose word it is.
    Posts(usize),
    /// Completes by this rank.
    Completes(usize),
}

impl Which {
    /// Its place among the words, of a window of so many ranks.
    pub fn index(self, ranks: usize) -> usize {
        match self {
            Which::Lock => 0,
            Which::AccumulateLock => 1,
            Which::Posts(rank) => 2 + rank,
            Which::Completes(rank) => 2 + ranks + rank,
        }
    }
}

/// How many words a process has.
pub fn count(ranks: usize) -> usize {
    2 + 2 * ranks
}

/// Those of this process; zeros.
pub fn make(ranks: usize) -> Box<[AtomicU64]> {
    (0..count(ranks)).map(|_| AtomicU64::new(0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn no_two_words_are_one() {
        let ranks = 3;
        let of = |rank| [Which::Posts(rank), Which::Completes(rank)];
        let all = [Which::Lock, Which::AccumulateLock].into_iter().chain((0..ranks).flat_map(of));
        let mut places: Vec<usize> = all.map(|which| which.index(ranks)).collect();
        places.sort_unstable();
        assert_eq!(places, (0..count(ranks)).collect::<Vec<_>>());
        assert_eq!(make(ranks).len(), count(ranks));
    }
}
