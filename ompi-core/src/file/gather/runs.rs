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

/// Adds runs to a list, those that follow each other as one.
pub struct Joining<'a> {
    list: &'a mut Vec<WindowRun>,
    // What is not in the list yet.
    last: WindowRun,
}

impl<'a> Joining<'a> {
    /// Behind what the list has, which is left as it is.
    pub fn new(list: &'a mut Vec<WindowRun>) -> Joining<'a> {
        Joining { list, last: WindowRun::default() }
    }

    /// Adds one, which is not empty.
    pub fn add(&mut self, run: WindowRun) {
        if self.last.end() == run.offset as usize {
            self.last.bytes += run.bytes;
        } else {
            self.put();
            self.last = run;
        }
    }

    /// The list has all of them.
    pub fn end(mut self) {
        self.put();
    }

    fn put(&mut self) {
        if self.last.bytes > 0 {
            self.list.push(self.last);
        }
    }
}

/// The runs of several lists, of which each grows, as one that grows; runs with at most `gap` bytes between them are joined.
/// Returns how many bytes the merged runs have together. `None` if a run reaches beyond `bytes`.
pub fn merge(lists: &mut [&[WindowRun]], gap: usize, bytes: u64, merged: &mut Vec<WindowRun>) -> Option<usize> {
    merged.clear();
    let mut all = 0;
    let begin = |list: &[WindowRun]| list.first().map_or(NONE, |run| u64::from(run.offset));
    let mut begins: Vec<u64> = lists.iter().map(|list| begin(list)).collect();
    loop {
        // The list whose next run comes first.
        let (mut next, mut first) = (0, NONE);
        for (index, begin) in begins.iter().enumerate() {
            if *begin < first {
                (next, first) = (index, *begin);
            }
        }
        let Some((run, mut rest)) = lists.get(next).and_then(|list| list.split_first()) else { return Some(all) };
        let from = run.offset as usize;
        let mut joined = merged.last_mut().filter(|last| from <= last.end() + gap);
        let (start, mut end) = match &joined {
            Some(last) => (last.offset as usize, run.end().max(last.end())),
            None => (from, run.end()),
        };
        // What follows in the same list and is joined, too, can be taken before what lies between.
        while let Some((run, behind)) = rest.split_first()
            && run.offset as usize <= end + gap
        {
            end = end.max(run.end());
            rest = behind;
        }
        if end as u64 > bytes {
            return None;
        }
        let length = end - start;
        match &mut joined {
            Some(last) => {
                all += length - last.bytes as usize;
                last.bytes = length as u32;
            }
            None => {
                all += length;
                merged.push(WindowRun { offset: from as u32, bytes: length as u32 });
            }
        }
        lists[next] = rest;
        begins[next] = begin(rest);
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

/// Where a list begins that has no run: offsets are shorter.
const NONE: u64 = u64::MAX;

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
        // One list goes on where a run of another one begins, within it and behind it.
        let over =
            [vec![run(0, 10), run(12, 2)], vec![run(3, 4), run(11, 5), run(40, 1)], vec![run(3, 30), run(41, 1)]];
        let over = over.each_ref().map(|list| &list[..]);
        assert_eq!(merged(&mut over.clone(), 0, 42), Some((35, vec![run(0, 33), run(40, 2)])));
        assert_eq!(merged(&mut over.clone(), 7, 42), Some((42, vec![run(0, 42)])));
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
        let mut joining = Joining::new(&mut list);
        [run(4, 4), run(8, 4), run(13, 4)].into_iter().for_each(|run| joining.add(run));
        joining.end();
        assert_eq!(list, [run(0, 4), run(4, 8), run(13, 4)]);
        let mut list = Vec::new();
        Joining::new(&mut list).end();
        assert_eq!(list, []);
        let mut joining = Joining::new(&mut list);
        joining.add(run(0, 7));
        joining.end();
        assert_eq!(list, [run(0, 7)]);
    }
}
