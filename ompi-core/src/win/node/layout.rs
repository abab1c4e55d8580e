//! Where what lies in the shared memory of a window: first the words of synchronisation of each process, then the parts. All
//! processes compute it alike, from the parts that they have told each other.

use crate::framework::osc::Part;
use alloc::boxed::Box;
use alloc::vec::Vec;

/// Bytes of one word.
pub const WORD: usize = 8;
/// The words of one process that begin each block: lock, accumulate lock, what it tells of itself, and who holds the lock.
const LOCK_WORDS: usize = 8;
/// Parts that need not follow each other begin on pages, so that each lies in memory near its process.
pub const PAGE: usize = 4096;
/// A cache line, or two that are fetched together.
const LINE: usize = 128;

/// The layout of one window.
#[derive(Debug)]
pub struct Layout {
    ranks: usize,
    block: usize,
    parts: Box<[(usize, usize)]>,
    bytes: usize,
}

impl Layout {
    /// Of these parts; with `contiguous` each begins where the one before ends. `None` if they do not fit the address space.
    pub fn new(parts: &[Part], contiguous: bool) -> Option<Layout> {
        let ranks = parts.len();
        let block = ((LOCK_WORDS + 2 * ranks) * WORD).next_multiple_of(LINE) + LINE;
        let mut end = ranks.checked_mul(block)?.checked_add(LINE)?.checked_next_multiple_of(PAGE)?;
        let mut places = Vec::new();
        for part in parts {
            let begin = if contiguous { end } else { end.checked_next_multiple_of(PAGE)? };
            end = begin.checked_add(part.bytes)?;
            places.push((begin, part.bytes));
        }
        let bytes = end.checked_next_multiple_of(PAGE)?;
        (bytes <= isize::MAX as usize).then(|| Layout { ranks, block, parts: places.into_boxed_slice(), bytes })
    }

    /// Of words alone, of so many processes.
    pub fn of_words(ranks: usize) -> Option<Layout> {
        Layout::new(&alloc::vec![Part { bytes: 0, unit: 1 }; ranks], true)
    }

    /// Length of all.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Offset and length of a part.
    pub fn part(&self, rank: usize) -> (usize, usize) {
        self.parts[rank]
    }

    /// Offset and length of all parts with what is between them.
    pub fn parts(&self) -> (usize, usize) {
        let begin = self.parts.first().map_or(self.bytes, |(begin, _)| *begin);
        (begin, self.bytes - begin)
    }

    /// Offset of the three words of a process's passive lock: the next ticket, the ticket that may share, the one that may
    /// have it alone.
    pub fn lock(&self, rank: usize) -> usize {
        rank * self.block
    }

    /// Offset of the word of a process's accumulate lock.
    pub fn accumulate_lock(&self, rank: usize) -> usize {
        rank * self.block + 3 * WORD
    }

    /// Offset of the word in which a process counts its threads that are inside the window's gate. It has a line of its own, which is
    /// written by each of its accumulates.
    pub fn inside(&self, rank: usize) -> usize {
        (rank + 1) * self.block - LINE
    }

    /// Offset of the word that says whether the window's gate is open. It has a line of its own, too: all look at it, hardly anybody
    /// writes it.
    pub fn gate(&self) -> usize {
        self.ranks * self.block
    }

    /// Offset of the word in which a process counts its shared locks of all, on that line, too: others look at it only where somebody locks
    /// memory alone.
    pub fn shares_all(&self, rank: usize) -> usize {
        self.inside(rank) + WORD
    }

    /// Offset of the word that says which kinds of locks were ever asked for, beside the gate's: it is written twice at most.
    pub fn asked(&self) -> usize {
        self.gate() + WORD
    }

    /// Offset of three words that a process tells of itself.
    pub fn notice(&self, rank: usize) -> usize {
        rank * self.block + 4 * WORD
    }

    /// Offset of the word that says who has the passive lock alone.
    pub fn holder(&self, rank: usize) -> usize {
        rank * self.block + 7 * WORD
    }

    /// Offset of the count of posts by `target` for `origin`, in the block of the origin, which waits for it.
    pub fn posts(&self, target: usize, origin: usize) -> usize {
        origin * self.block + (LOCK_WORDS + target) * WORD
    }

    /// Offset of the count of completes by `origin` for `target`, in the block of the target.
    pub fn completes(&self, origin: usize, target: usize) -> usize {
        target * self.block + (LOCK_WORDS + self.ranks + origin) * WORD
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_overlaps() {
        let parts = [100, 0, 5000, 1].map(|bytes| Part { bytes, unit: 1 });
        for contiguous in [false, true] {
            let layout = Layout::new(&parts, contiguous).unwrap();
            let mut used = alloc::vec![(layout.gate(), WORD), (layout.asked(), LINE - WORD)];
            for rank in 0..4 {
                used.push((layout.lock(rank), 3 * WORD));
                used.push((layout.accumulate_lock(rank), WORD));
                used.push((layout.notice(rank), 3 * WORD));
                used.push((layout.holder(rank), WORD));
                used.push((layout.inside(rank), WORD));
                used.push((layout.shares_all(rank), LINE - WORD));
                for other in 0..4 {
                    used.push((layout.posts(other, rank), WORD));
                    used.push((layout.completes(other, rank), WORD));
                }
                used.push(layout.part(rank));
            }
            used.retain(|(_, bytes)| *bytes > 0);
            used.sort_unstable();
            assert!(used.windows(2).all(|pair| pair[0].0 + pair[0].1 <= pair[1].0), "{used:?}");
            assert!(used.last().is_some_and(|(at, bytes)| at + bytes <= layout.bytes()));
            let follows = (1..4).all(|rank| layout.part(rank - 1).0 + layout.part(rank - 1).1 == layout.part(rank).0);
            assert_eq!(follows, contiguous);
        }
        let huge = [Part { bytes: usize::MAX / 2, unit: 1 }; 3];
        assert!(Layout::new(&huge, true).is_none());
    }
}
