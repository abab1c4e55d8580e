//! A section with gaps as a copy without, for what takes no datatype of one's own: reductions, procedures with an array of counts, and
//! datatypes that are larger than an element of the section.

use crate::arguments::Buffer;
use crate::dimension::Dimension;
use crate::memory::Memory;
use crate::section::Section;

/// The section itself where it has no gaps, or its copy. It does not need the compiler's descriptor, which ends with the call.
pub struct Copied {
    start: usize,
    element_bytes: usize,
    rank: usize,
    dimensions: [Dimension; RANKS],
    copy: Option<Memory>,
}

/// The most that Fortran has.
const RANKS: usize = 15;

impl Copied {
    /// Nothing where there is no memory.
    pub fn of(section: Section) -> Option<Copied> {
        let (start, element_bytes) = (section.start().0, section.element_bytes());
        let mut dimensions = [Dimension::NONE; RANKS];
        let rank = section.dimensions().len().min(RANKS);
        dimensions[..rank].copy_from_slice(&section.dimensions()[..rank]);
        let mut copied = Copied { start, element_bytes, rank, dimensions, copy: None };
        if !section.is_contiguous() {
            copied.copy = Some(Memory::new(copied.bytes())?);
            copied.copy_in(0, copied.bytes());
        }
        Some(copied)
    }

    /// What the procedure works on.
    pub fn start(&self) -> Buffer {
        Buffer(self.copy.as_ref().map_or(self.start, |memory| memory.start() as usize))
    }

    /// It is a copy.
    pub fn is_copy(&self) -> bool {
        self.copy.is_some()
    }

    /// Of the whole section.
    pub fn bytes(&self) -> usize {
        let elements = self.shape().iter().map(|dimension| dimension.extent.max(0).cast_unsigned());
        elements.fold(self.element_bytes, usize::saturating_mul)
    }

    /// What the program wrote into these bytes goes into the copy.
    pub fn copy_in(&self, from: usize, to: usize) {
        self.each(from, to, |there, here, bytes| {
            // SAFETY: bytes of an element of the section, and their place in the copy.
            unsafe { core::ptr::copy_nonoverlapping(there, here, bytes) };
        });
    }

    /// What the procedure wrote goes where it belongs.
    pub fn copy_back(&self) {
        self.copy_out(0, self.bytes());
    }

    /// The same of these bytes alone.
    pub fn copy_out(&self, from: usize, to: usize) {
        self.each(from, to, |there, here, bytes| {
            // SAFETY: bytes of an element of the section, and their place in the copy.
            unsafe { core::ptr::copy_nonoverlapping(here, there, bytes) };
        });
    }

    fn shape(&self) -> &[Dimension] {
        &self.dimensions[..self.rank]
    }

    /// Calls `each` with the place in the section and in the copy of what lies between two distances from the copy's start, piece by
    /// piece.
    fn each(&self, from: usize, to: usize, mut each: impl FnMut(*mut u8, *mut u8, usize)) {
        let Some(memory) = &self.copy else { return };
        let to = to.min(self.bytes());
        if from >= to {
            return;
        }
        let (copy, start) = (memory.start().cast::<u8>(), self.start as *mut u8);
        // The first dimensions may lie in one piece.
        let (mut run, mut outer) = (self.element_bytes, self.shape());
        while let [dimension, rest @ ..] = outer
            && dimension.stride == run.cast_signed()
        {
            (run, outer) = (run.saturating_mul(dimension.extent.max(0).cast_unsigned()), rest);
        }
        let mut index = [0isize; RANKS];
        let mut at = 0;
        loop {
            let (first, last) = (at.max(from), (at + run).min(to));
            if first < last {
                let distance: isize = outer.iter().zip(index).map(|(one, at)| at * one.stride).sum();
                let there = start.wrapping_offset(distance).wrapping_add(first - at);
                each(there, copy.wrapping_add(first), last - first);
            }
            at += run;
            if at >= to || !advance(outer, &mut index) {
                return;
            }
        }
    }
}

/// The next element; false behind the last one.
fn advance(dimensions: &[Dimension], index: &mut [isize; RANKS]) -> bool {
    for (dimension, at) in dimensions.iter().zip(index) {
        *at += 1;
        if *at < dimension.extent {
            return true;
        }
        *at = 0;
    }
    false
}
