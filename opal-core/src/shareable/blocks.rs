//! Which parts of the range are given to whom: by offset, the shortest free one that fits.

use alloc::collections::{BTreeMap, BTreeSet};

/// Lengths by offset.
pub struct Blocks {
    free: BTreeMap<usize, usize>,
    // The same as (length, offset).
    by_length: BTreeSet<(usize, usize)>,
    given: BTreeMap<usize, usize>,
    // Nothing from here on was ever given.
    fresh: usize,
    // Bytes of what is free that may have been written; what is counted twice or not at all is little.
    kept: usize,
}

/// What was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GivenBlock {
    /// Where it begins.
    pub offset: usize,
    /// Its length.
    pub bytes: usize,
    /// Nobody had any of it before.
    pub is_fresh: bool,
}

impl Blocks {
    /// All free, from `begin` to `end`.
    pub fn new(begin: usize, end: usize) -> Blocks {
        let mut blocks =
            Blocks { free: BTreeMap::new(), by_length: BTreeSet::new(), given: BTreeMap::new(), fresh: begin, kept: 0 };
        blocks.insert(begin, end - begin);
        blocks
    }

    /// The shortest free place that is long enough. It begins at a multiple of `alignment`.
    pub fn take(&mut self, bytes: usize, alignment: usize) -> Option<GivenBlock> {
        let bytes = rounded(bytes)?;
        if !alignment.is_power_of_two() || alignment > MOST_ALIGNMENT {
            return None;
        }
        let fits = |(length, offset): &(usize, usize)| {
            let begin = offset.next_multiple_of(alignment.max(LINE));
            (begin.checked_add(bytes)? <= offset + length).then_some((*offset, *length, begin))
        };
        let (offset, length, begin) = self.by_length.range((bytes, 0)..).find_map(fits)?;
        self.remove(offset);
        self.insert(offset, begin - offset);
        self.insert(begin + bytes, offset + length - begin - bytes);
        self.given.insert(begin, bytes);
        Some(GivenBlock { offset: begin, bytes, is_fresh: self.use_up_to(begin, bytes) })
    }

    /// Length of the block that begins there.
    pub fn length(&self, offset: usize) -> Option<usize> {
        self.given.get(&offset).copied()
    }

    /// Makes the block that begins there longer or shorter where it is. `false` if what follows is not free, and then it is as it was.
    pub fn resize(&mut self, offset: usize, bytes: usize) -> bool {
        let (Some(have), Some(bytes)) = (self.length(offset), rounded(bytes)) else { return false };
        let end = offset + have;
        match bytes.checked_sub(have) {
            Some(0) => {}
            Some(more) => {
                let Some(behind) = self.free.get(&end).copied().filter(|behind| *behind >= more) else { return false };
                self.remove(end);
                self.insert(end + more, behind - more);
                self.use_up_to(end, more);
            }
            None => self.join(offset + bytes, have - bytes),
        }
        self.given.insert(offset, bytes);
        true
    }

    /// Joins what is freed with what is free beside it.
    pub fn give_back(&mut self, offset: usize) {
        if let Some(bytes) = self.given.remove(&offset) {
            self.join(offset, bytes);
        }
    }

    /// Bytes of what is free that were kept.
    pub fn kept(&self) -> usize {
        self.kept
    }

    /// So many more are kept.
    pub fn keep(&mut self, bytes: usize) {
        self.kept += bytes;
    }

    // Whether it was fresh.
    fn use_up_to(&mut self, offset: usize, bytes: usize) -> bool {
        let is_fresh = offset >= self.fresh;
        if !is_fresh {
            self.kept = self.kept.saturating_sub(bytes);
        }
        self.fresh = self.fresh.max(offset + bytes);
        is_fresh
    }

    fn join(&mut self, mut begin: usize, mut length: usize) {
        if let Some(behind) = self.remove(begin + length) {
            length += behind;
        }
        let before = self.free.range(..begin).next_back().map(|(from, bytes)| (*from, *bytes));
        if let Some((from, bytes)) = before.filter(|(from, bytes)| from + bytes == begin) {
            self.remove(from);
            begin = from;
            length += bytes;
        }
        self.insert(begin, length);
    }

    fn insert(&mut self, offset: usize, bytes: usize) {
        if bytes > 0 {
            self.free.insert(offset, bytes);
            self.by_length.insert((bytes, offset));
        }
    }

    fn remove(&mut self, offset: usize) -> Option<usize> {
        let bytes = self.free.remove(&offset)?;
        self.by_length.remove(&(bytes, offset));
        Some(bytes)
    }
}

fn rounded(bytes: usize) -> Option<usize> {
    bytes.max(1).checked_next_multiple_of(LINE)
}

/// Blocks begin on a cache line.
const LINE: usize = 64;
/// The range itself begins on a multiple of this.
pub const MOST_ALIGNMENT: usize = 2 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    fn take(blocks: &mut Blocks, bytes: usize, alignment: usize) -> Option<(usize, usize)> {
        blocks.take(bytes, alignment).map(|block| (block.offset, block.bytes))
    }

    #[test]
    fn what_is_freed_is_joined_again() {
        let mut blocks = Blocks::new(0, 8192);
        let offsets = [60, 4096, 64].map(|bytes| take(&mut blocks, bytes, LINE));
        assert_eq!(offsets, [Some((0, 64)), Some((64, 4096)), Some((4160, 64))]);
        assert_eq!(take(&mut blocks, 64, 2048), Some((6144, 64)));
        assert_eq!((take(&mut blocks, 4096, LINE), blocks.length(64), blocks.length(65)), (None, Some(4096), None));
        blocks.give_back(64);
        blocks.give_back(0);
        blocks.give_back(0);
        assert_eq!(take(&mut blocks, 4160, 4096), Some((0, 4160)));
        for offset in [4160, 0, 6144] {
            blocks.give_back(offset);
        }
        assert_eq!((blocks.free, blocks.given.len()), (BTreeMap::from([(0, 8192)]), 0));
        assert_eq!(blocks.by_length, BTreeSet::from([(8192, 0)]));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let mut blocks = Blocks::new(4096, 8192);
        for (bytes, alignment) in [(4097, 1), (usize::MAX, 1), (usize::MAX - 64, 64), (64, 4 << 20), (64, 3), (64, 0)] {
            assert_eq!(take(&mut blocks, bytes, alignment), None, "{bytes} by {alignment}");
        }
        assert_eq!(take(&mut blocks, 0, 1), Some((4096, 64)));
    }

    #[test]
    fn the_shortest_that_fits_is_taken_and_it_is_known_what_is_fresh() {
        let mut blocks = Blocks::new(0, 64 << 10);
        let [long, _kept, short, _end] = [4096, 64, 1024, 64].map(|bytes| blocks.take(bytes, 64).unwrap());
        assert!(long.is_fresh && short.is_fresh);
        for block in [long, short] {
            blocks.give_back(block.offset);
            blocks.keep(block.bytes);
        }
        let again = blocks.take(1000, 64).unwrap();
        assert_eq!((again.offset, again.is_fresh, blocks.kept()), (short.offset, false, 4096));
        assert!(!blocks.take(2048, 64).unwrap().is_fresh && blocks.take(4096, 64).unwrap().is_fresh);
    }

    #[test]
    fn a_block_grows_into_what_is_free_behind_it_only() {
        let mut blocks = Blocks::new(0, 8192);
        let [first, second] = [1024, 1024].map(|bytes| blocks.take(bytes, 64).unwrap().offset);
        assert!(!blocks.resize(first, 1025) && blocks.length(first) == Some(1024));
        assert!(blocks.resize(second, 7168) && !blocks.resize(second, 7169) && !blocks.resize(77, 64));
        assert!(!blocks.resize(second, usize::MAX));
        assert!(blocks.resize(second, 100) && blocks.length(second) == Some(128));
        assert_eq!(blocks.free, BTreeMap::from([(1152, 7040)]));
        blocks.give_back(first);
        blocks.give_back(second);
        assert_eq!(blocks.by_length, BTreeSet::from([(8192, 0)]));
    }
}
