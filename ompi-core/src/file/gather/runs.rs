//! Which bytes of a window the processes want.

use alloc::vec::Vec;

/// Bytes of a window that lie together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WindowRun {
    /// The first one.
    pub offset: u32,
    /// How many.
    pub bytes: u32,
}

impl WindowRun {
    /// As a message has it.
    pub fn word(self) -> [u8; RUN_BYTES] {
        (u64::from(self.offset) << 32 | u64::from(self.bytes)).to_ne_bytes()
    }

    /// Of a message.
    ///
    /// # Panics
    /// If it has not [`RUN_BYTES`] bytes.
    pub fn of_word(word: &[u8]) -> WindowRun {
        let word = u64::from_ne_bytes(word.try_into().expect("a run has RUN_BYTES bytes"));
        WindowRun { offset: (word >> 32) as u32, bytes: word as u32 }
    }

    /// Behind the last byte.
    pub fn end(self) -> usize {
        self.offset as usize + self.bytes as usize
    }
}

/// Adds a run to a list, or to its last run.
pub fn push(list: &mut Vec<WindowRun>, first: usize, run: WindowRun) {
    match list[first..].last_mut() {
        Some(last) if last.end() == run.offset as usize => last.bytes += run.bytes,
        _ => list.push(run),
    }
}

/// The runs of several lists, of which each grows, as one that grows; runs with at most `gap` bytes between them are joined.
/// Returns how many bytes the merged runs have together. `None` if a run reaches beyond `bytes`.
pub fn merge(lists: &mut [&[WindowRun]], gap: usize, bytes: u64, merged: &mut Vec<WindowRun>) -> Option<usize> {
    merged.clear();
    let mut all = 0;
    loop {
        // The list whose next run comes first.
        let (mut next, mut least) = (None, u64::MAX);
        for list in lists.iter_mut() {
            if let [run, ..] = **list
                && u64::from(run.offset) < least
            {
                (least, next) = (u64::from(run.offset), Some((run, list)));
            }
        }
        let Some((run, list)) = next else { return Some(all) };
        *list = &list[1..];
        if run.end() as u64 > bytes {
            return None;
        }
        match merged.last_mut() {
            Some(last) if run.offset as usize <= last.end() + gap => {
                let joined = (run.end().max(last.end()) - last.offset as usize) as u32;
                all += (joined - last.bytes) as usize;
                last.bytes = joined;
            }
            _ => {
                all += run.bytes as usize;
                merged.push(run);
            }
        }
    }
}

/// Finds runs in the merged ones, which lie one behind the other in a buffer.
#[derive(Default)]
pub struct Cursor {
    index: usize,
    // Where in the buffer the run of this index lies.
    at: usize,
}

impl Cursor {
    /// Where in the buffer a run begins that is a part of a merged one. Runs are asked for in their order.
    ///
    /// # Panics
    /// If it is a part of none.
    pub fn place(&mut self, merged: &[WindowRun], run: WindowRun) -> usize {
        while merged[self.index].end() < run.end() {
            self.at += merged[self.index].bytes as usize;
            self.index += 1;
        }
        self.at + (run.offset - merged[self.index].offset) as usize
    }
}

/// Of a run in a message.
pub const RUN_BYTES: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;

    fn run(offset: u32, bytes: u32) -> WindowRun {
        WindowRun { offset, bytes }
    }

    #[test]
    fn neighbours_are_joined_and_gaps_stay() {
        let lists = [vec![run(0, 4), run(8, 4)], vec![run(4, 4), run(20, 1)], vec![], vec![run(9, 10)]];
        let merged = |lists: &mut [&[WindowRun]], gap, bytes| {
            let mut merged = Vec::new();
            merge(lists, gap, bytes, &mut merged).map(|bytes| (bytes, merged))
        };
        let mut all = lists.each_ref().map(|list| &list[..]);
        assert_eq!(merged(&mut all.clone(), 0, 21), Some((20, vec![run(0, 19), run(20, 1)])));
        assert_eq!(merged(&mut all, 1, 21), Some((21, vec![run(0, 21)])));
        assert_eq!(merged(&mut [&lists[1]], 0, 20), None);
        assert_eq!(merged(&mut [&[run(u32::MAX, u32::MAX)]], 0, 4096), None);
        assert_eq!(merged(&mut [], 0, 0), Some((0, vec![])));
        assert_eq!(WindowRun::of_word(&run(7, u32::MAX).word()), run(7, u32::MAX));
    }

    #[test]
    fn runs_are_found_where_they_lie_in_the_buffer() {
        let merged = [run(10, 5), run(100, 1), run(u32::MAX - 9, 9)];
        let mut cursor = Cursor::default();
        let places = [run(10, 2), run(12, 3), run(100, 1), run(u32::MAX - 4, 2)].map(|run| cursor.place(&merged, run));
        assert_eq!(places, [0, 2, 5, 11]);
    }

    #[test]
    fn a_list_joins_its_own_runs_only() {
        let mut list = vec![run(0, 4)];
        push(&mut list, 1, run(4, 4));
        push(&mut list, 1, run(8, 4));
        push(&mut list, 1, run(13, 4));
        assert_eq!(list, [run(0, 4), run(4, 8), run(13, 4)]);
    }
}
