//! Where everything lies, in physical and in virtual memory, and how it is divided among the ranks.
//!
//! Physical: the image at 2 MiB; behind it the memory is cut into one chunk per rank, each a multiple of 2 MiB.
//! A chunk begins with single pages (page tables, copies of the image's data), then comes the stack, the rest is heap.
//!
//! Virtual, in each rank's page tables:
//!
//! | address | what | shared |
//! |---|---|---|
//! | 0 | nothing, so that null pointers are found out | |
//! | 0x200000 | image: text (read, execute), constants (read), data (read, write) | text and constants |
//! | behind data | section `.shared`: what cores tell each other | yes |
//! | 0x1_0000_0000 | heap | |
//! | below 0x60_0000_0000 | stack; nothing below it, so that an overflow is found out | |
//! | 0x80_0000_0000 | window: physical memory from 0, devices included | yes |
//!
//! Only memory below 4 GiB is used.

/// Where physical address 0 appears.
pub const WINDOW: u64 = 0x80_0000_0000;
/// Where a rank's heap begins.
pub const HEAP: u64 = 0x1_0000_0000;
/// Where a rank's stack ends.
pub const STACK_END: u64 = 0x60_0000_0000;
/// Bytes of a stack.
pub const STACK_BYTES: u64 = 4 << 20;
/// Where the other cores begin: a page below 1 MiB that no firmware uses.
pub const TRAMPOLINE: u64 = 0x8000;
/// A small page.
pub const PAGE: u64 = 4096;
/// A large page.
pub const LARGE_PAGE: u64 = 2 << 20;
/// The most ranks of one machine.
pub const CORES_MAX: usize = 64;

/// A range of physical memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// First address.
    pub start: u64,
    /// Behind the last one.
    pub end: u64,
}

impl Range {
    /// Its length.
    pub fn bytes(&self) -> u64 {
        self.end - self.start
    }

    /// All but so many bytes at its end, in large pages, and those. `None` if it has no more than that.
    pub fn split_end(&self, bytes: u64) -> Option<(Range, Range)> {
        let middle = self.end.checked_sub(bytes)? / LARGE_PAGE * LARGE_PAGE;
        (middle > self.start)
            .then_some((Range { start: self.start, end: middle }, Range { start: middle, end: self.end }))
    }

    /// One of `count` equal parts, in large pages. `None` if it has less than [`LEAST_CHUNK`].
    pub fn chunk(&self, index: u64, count: u64) -> Option<Range> {
        let start = self.start.next_multiple_of(LARGE_PAGE);
        let bytes = self.end.checked_sub(start)? / count / LARGE_PAGE * LARGE_PAGE;
        (bytes >= LEAST_CHUNK).then(|| Range { start: start + index * bytes, end: start + (index + 1) * bytes })
    }
}

/// What a rank needs at least: its stack, its copies of data and a heap that holds the library.
pub const LEAST_CHUNK: u64 = STACK_BYTES + (12 << 20);

/// Single pages from the front of a rank's chunk.
#[derive(Debug)]
pub struct Frames {
    next: u64,
    end: u64,
}

impl Frames {
    /// All of this range are free.
    pub fn new(range: Range) -> Frames {
        Frames { next: range.start, end: range.end }
    }

    /// One page; its content is whatever was there.
    pub fn take(&mut self) -> Option<u64> {
        let taken = self.next;
        self.next = taken.checked_add(PAGE).filter(|next| *next <= self.end)?;
        Some(taken)
    }

    /// What is left, in large pages; nothing is given out afterwards.
    pub fn rest(&mut self) -> Range {
        let rest = Range { start: self.next.next_multiple_of(LARGE_PAGE).min(self.end), end: self.end };
        self.next = self.end;
        rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_equal_and_apart() {
        let all = Range { start: 0x45_6000, end: 128 << 20 };
        let chunks: [Range; 4] = core::array::from_fn(|index| all.chunk(index as u64, 4).unwrap());
        assert!(chunks.iter().all(|chunk| chunk.bytes() == chunks[0].bytes()));
        assert!(chunks.windows(2).all(|pair| pair[0].end <= pair[1].start));
        assert!(chunks[0].start >= all.start && chunks[3].end <= all.end);
        assert_eq!(all.chunk(0, 40), None);
    }

    #[test]
    fn the_end_is_split_off() {
        let all = Range { start: 0x45_6000, end: 128 << 20 };
        let (front, end) = all.split_end(5 << 20).unwrap();
        assert_eq!((front.start, front.end, end), (all.start, 122 << 20, Range { start: 122 << 20, end: all.end }));
        assert_eq!((all.split_end(128 << 20), all.split_end(u64::MAX)), (None, None));
    }

    #[test]
    fn frames_end() {
        let mut frames = Frames::new(Range { start: LARGE_PAGE, end: 3 * LARGE_PAGE });
        assert_eq!((frames.take(), frames.take()), (Some(LARGE_PAGE), Some(LARGE_PAGE + PAGE)));
        assert_eq!(frames.rest(), Range { start: 2 * LARGE_PAGE, end: 3 * LARGE_PAGE });
        assert_eq!(frames.take(), None);
    }
}
