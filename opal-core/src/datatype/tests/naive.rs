//! The reference: a type map that lists every basic element.

use std::vec;
use std::vec::Vec;

/// A type map as the standard writes it: every basic element by itself.
#[derive(Clone, Debug)]
pub struct Naive {
    /// Displacement and size of each.
    pub elements: Vec<(isize, usize)>,
    /// Lower and upper bound.
    pub bounds: Option<(isize, isize)>,
    /// The bounds were set.
    pub marked: bool,
    /// Strictest alignment.
    pub align: usize,
}

impl Naive {
    /// One basic element.
    pub fn basic(bytes: usize) -> Naive {
        let bounds = Some((0, bytes as isize));
        Naive { elements: vec![(0, bytes)], bounds, marked: false, align: bytes }
    }

    /// From one element to the next.
    pub fn extent(&self) -> isize {
        self.bounds.map_or(0, |(low, high)| high - low)
    }

    /// Blocks of elements at displacements.
    pub fn of_blocks(blocks: &[(isize, usize, &Naive)]) -> Naive {
        let mut result = Naive { elements: vec![], bounds: None, marked: false, align: 1 };
        for (start, count, of) in blocks.iter().filter(|block| block.1 > 0) {
            result.align = result.align.max(of.align);
            for index in 0..*count as isize {
                let by = start + index * of.extent();
                result.elements.extend(of.elements.iter().map(|(at, bytes)| (at + by, *bytes)));
                let Some((low, high)) = of.bounds.map(|(low, high)| (low + by, high + by)) else { continue };
                result.bounds = match (result.bounds, result.marked, of.marked) {
                    (held, true, false) => held,
                    (_, false, true) | (None, _, _) => Some((low, high)),
                    (Some(held), _, _) => Some((held.0.min(low), held.1.max(high))),
                };
                result.marked |= of.marked;
            }
        }
        if let (false, Some((low, high))) = (result.marked, result.bounds) {
            let mut high = high;
            while (high - low) % result.align as isize != 0 {
                high += 1;
            }
            result.bounds = Some((low, high));
        }
        result
    }

    /// The displacement of every byte of `count` elements in order.
    pub fn bytes(&self, count: usize) -> Vec<isize> {
        let of_one = |index: isize| {
            let by = index * self.extent();
            self.elements.iter().flat_map(move |(at, bytes)| (0..*bytes as isize).map(move |byte| at + by + byte))
        };
        (0..count as isize).flat_map(of_one).collect()
    }

    /// Bytes of data.
    pub fn size(&self) -> usize {
        self.elements.iter().map(|(_, bytes)| bytes).sum()
    }
}
