//! Which partitions of a send are ready: a bit for each. Marking takes no lock.
//!
//! **Invariant:** in a round each bit is set once. Who sets the last one learns of it. Bits behind the last partition are set, and taken,
//! from the beginning: a word is full when all of its bits are set.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::Range;
use ompi_core::data::no_room;
use ompi_core::error::Result;
use opal_core::sync::{AtomicU64, AtomicUsize, Ordering, threads_possible};

/// The bits of a send.
pub struct Marks {
    words: Box<[AtomicU64]>,
    partitions: usize,
    // Words that were not counted as full yet.
    unfilled: AtomicUsize,
}

/// What was sent of a round; belongs to who holds the lock of the send.
#[derive(Default)]
pub struct Taken {
    words: Box<[u64]>,
    /// Partitions.
    pub count: usize,
}

/// What a mark found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marked {
    /// Others are missing.
    Some,
    /// It was the last one.
    All,
    /// One of these was marked already.
    Twice,
}

impl Marks {
    /// None is ready.
    pub fn new(partitions: usize) -> Result<(Marks, Taken)> {
        let count = partitions.div_ceil(WIDTH);
        let (mut words, mut taken) = (Vec::new(), Vec::new());
        words.try_reserve_exact(count).map_err(|_| no_room(8 * count))?;
        taken.try_reserve_exact(count).map_err(|_| no_room(8 * count))?;
        words.resize_with(count, || AtomicU64::new(0));
        taken.resize(count, 0);
        let marks = Marks { words: words.into(), partitions, unfilled: AtomicUsize::new(0) };
        Ok((marks, Taken { words: taken.into(), count: 0 }))
    }

    /// A bit for each.
    pub fn words(&self) -> &[AtomicU64] {
        &self.words
    }

    /// How many there are.
    pub fn partitions(&self) -> usize {
        self.partitions
    }

    /// A round starts: nobody marks yet, since who marks does so after the start.
    pub fn clear(&self, taken: &mut Taken) {
        for (index, (word, taken)) in self.words.iter().zip(&mut taken.words).enumerate() {
            *taken = !bits(self.partitions - index * WIDTH);
            word.store(*taken, Ordering::Relaxed);
        }
        taken.count = 0;
        self.unfilled.store(self.words.len(), Ordering::Relaxed);
    }

    /// Whether all are ready.
    #[inline(always)]
    pub fn is_full(&self) -> bool {
        // Acquire pairs with the Release in `fill`: who finds all full sees all bits.
        self.unfilled.load(Ordering::Acquire) == 0
    }

    /// How many marks are missing: those that others set at this moment may be among them.
    pub fn left(&self) -> usize {
        self.words.iter().map(|word| word.load(Ordering::Relaxed).count_zeros() as usize).sum()
    }

    /// Sets the bits of a range that exists. Where that is not the last mark the bits are touched no more afterwards: another thread
    /// may mark the last one, and have them freed. Before that can be `hold` is called, perhaps several times.
    pub fn mark(&self, range: Range<usize>, hold: impl FnMut()) -> Marked {
        if range.len() == 1 {
            return self.mark_one(range.start, hold);
        }
        self.mark_several(range, hold)
    }

    fn mark_one(&self, partition: usize, hold: impl FnMut()) -> Marked {
        let mask = 1 << (partition % WIDTH);
        let before = self.set(partition / WIDTH, mask);
        if before & mask != 0 {
            return Marked::Twice;
        }
        self.filled(before | mask, hold)
    }

    #[inline(never)]
    fn mark_several(&self, range: Range<usize>, mut hold: impl FnMut()) -> Marked {
        let (mut all, mut twice) = (false, false);
        let mut at = range.start;
        while at < range.end {
            let end = range.end.min((at / WIDTH + 1) * WIDTH);
            let mask = bits(end - at) << (at % WIDTH);
            let before = self.set(at / WIDTH, mask);
            twice |= before & mask != 0;
            all |= before != u64::MAX && self.filled(before | mask, &mut hold) == Marked::All;
            at = end;
        }
        match (twice, all) {
            (true, _) => Marked::Twice,
            (false, true) => Marked::All,
            (false, false) => Marked::Some,
        }
    }

    #[inline(always)]
    fn set(&self, index: usize, mask: u64) -> u64 {
        let word = &self.words[index];
        // Release pairs with the Acquire in `take`: who takes a partition sees its data.
        if threads_possible() {
            return word.fetch_or(mask, Ordering::Release);
        }
        let before = word.load(Ordering::Relaxed);
        word.store(before | mask, Ordering::Release);
        before
    }

    /// What it means that this thread left a word so.
    #[inline(always)]
    fn filled(&self, word: u64, mut hold: impl FnMut()) -> Marked {
        if word != u64::MAX {
            return Marked::Some;
        }
        // The round cannot end before this word is counted.
        hold();
        if self.fill() { Marked::All } else { Marked::Some }
    }

    /// Counts a full word; whether it was the last one.
    fn fill(&self) -> bool {
        if !threads_possible() {
            let before = self.unfilled.load(Ordering::Relaxed);
            self.unfilled.store(before - 1, Ordering::Release);
            return before == 1;
        }
        // Release pairs with the Acquire in `is_full`; Acquire with the Release of those who counted before: who is last sees
        // all bits.
        self.unfilled.fetch_sub(1, Ordering::AcqRel) == 1
    }

    /// Takes what is marked and was not taken yet: calls `each` with every run of neighbours, and with whether it is the last one of
    /// the round: nothing is left behind it. In a round that is so once.
    pub fn take(&self, taken: &mut Taken, mut each: impl FnMut(Range<usize>, bool)) {
        let mut run = 0..0;
        for (index, word) in self.words.iter().enumerate() {
            // Acquire pairs with the Release in `set`.
            let mut fresh = word.load(Ordering::Acquire) & !taken.words[index];
            taken.words[index] |= fresh;
            taken.count += fresh.count_ones() as usize;
            while fresh != 0 {
                let first = fresh.trailing_zeros() as usize;
                let length = (fresh >> first).trailing_ones() as usize;
                fresh &= !(bits(length) << first);
                let start = index * WIDTH + first;
                if run.end == start && !run.is_empty() {
                    run.end += length;
                    continue;
                }
                if !run.is_empty() {
                    each(run, false);
                }
                run = start..start + length;
            }
        }
        if !run.is_empty() {
            each(run, taken.count == self.partitions);
        }
    }

    /// Takes all, which the caller found marked.
    pub fn take_all(&self, taken: &mut Taken) {
        taken.count = self.partitions;
    }
}

fn bits(count: usize) -> u64 {
    if count >= WIDTH { u64::MAX } else { (1 << count) - 1 }
}

const WIDTH: usize = 64;

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::vec;

    fn runs(marks: &Marks, taken: &mut Taken) -> Vec<(Range<usize>, bool)> {
        let mut all = vec![];
        marks.take(taken, |run, last| all.push((run, last)));
        all
    }

    #[test]
    fn neighbours_are_taken_together_and_once() {
        let (marks, mut taken) = Marks::new(200).unwrap();
        marks.clear(&mut taken);
        for partition in [0, 1, 3, 62, 63, 64, 65] {
            assert_eq!(marks.mark(partition..partition + 1, || ()), Marked::Some);
        }
        assert_eq!(runs(&marks, &mut taken), [(0..2, false), (3..4, false), (62..66, false)]);
        assert_eq!(runs(&marks, &mut taken), []);
        assert_eq!(marks.mark(66..200, || ()), Marked::Some);
        assert_eq!(runs(&marks, &mut taken), [(66..200, false)]);
        assert_eq!((marks.left(), taken.count), (59, 141));
        assert_eq!(marks.mark(4..62, || ()), Marked::Some);
        assert_eq!(marks.mark(2..3, || ()), Marked::All);
        assert_eq!(runs(&marks, &mut taken), [(2..3, false), (4..62, true)]);
        assert_eq!((marks.left(), marks.is_full(), taken.count), (0, true, 200));
        marks.clear(&mut taken);
        assert_eq!((marks.left(), marks.is_full(), taken.count), (200, false, 0));
        assert_eq!(marks.mark(0..200, || ()), Marked::All);
        assert_eq!(runs(&marks, &mut taken), [(0..200, true)]);
    }

    #[test]
    fn a_second_mark_is_told_and_counts_nothing() {
        let (marks, mut taken) = Marks::new(66).unwrap();
        marks.clear(&mut taken);
        assert_eq!(marks.mark(60..65, || ()), Marked::Some);
        assert_eq!(marks.mark(64..65, || ()), Marked::Twice);
        assert_eq!(marks.mark(64..66, || ()), Marked::Twice);
        assert_eq!(marks.left(), 60);
        assert_eq!(marks.mark(0..60, || ()), Marked::All);
        assert_eq!((marks.mark(0..66, || ()), marks.left()), (Marked::Twice, 0));
    }

    #[test]
    fn nothing_has_no_marks() {
        let (marks, mut taken) = Marks::new(0).unwrap();
        marks.clear(&mut taken);
        assert_eq!((marks.is_full(), marks.left(), runs(&marks, &mut taken)), (true, 0, vec![]));
    }
}
