//! A section with gaps as a copy without, for blocking procedures that take no datatype of one's own: reductions, and those with
//! an array of counts.

use crate::arguments::Buffer;
use crate::dimension::Dimension;
use crate::memory::Memory;
use crate::section::Section;

/// The section itself where it has no gaps, or its copy.
pub struct Copied {
    section: Section,
    copy: Option<Memory>,
}

impl Copied {
    /// Nothing where there is no memory.
    pub fn of(section: Section) -> Option<Copied> {
        if section.is_contiguous() {
            return Some(Copied { section, copy: None });
        }
        let elements = section.dimensions().iter().map(|dimension| dimension.extent.max(0).cast_unsigned());
        let bytes = elements.fold(section.element_bytes(), usize::saturating_mul);
        let copied = Copied { section, copy: Some(Memory::new(bytes)?) };
        copied.each(|there, here, bytes| {
            // SAFETY: an element of the section, and its place in the copy.
            unsafe { core::ptr::copy_nonoverlapping(there, here, bytes) };
        });
        Some(copied)
    }

    /// What the procedure works on.
    pub fn start(&self) -> Buffer {
        match &self.copy {
            Some(memory) => Buffer(memory.start() as usize),
            None => self.section.start(),
        }
    }

    /// What the procedure wrote goes where it belongs.
    pub fn copy_back(&self) {
        self.each(|there, here, bytes| {
            // SAFETY: an element of the section, and its place in the copy.
            unsafe { core::ptr::copy_nonoverlapping(here, there, bytes) };
        });
    }

    /// Calls `each` with every element's place in the section and in the copy, in array element order.
    fn each(&self, mut each: impl FnMut(*mut u8, *mut u8, usize)) {
        let Some(memory) = &self.copy else { return };
        let bytes = self.section.element_bytes();
        let (mut here, start) = (memory.start().cast::<u8>(), self.section.start().0 as *mut u8);
        let dimensions = self.section.dimensions();
        let mut index = [0isize; 15];
        loop {
            let distance: isize = dimensions.iter().zip(index).map(|(dimension, at)| at * dimension.stride).sum();
            each(start.wrapping_offset(distance), here, bytes);
            here = here.wrapping_add(bytes);
            if !advance(dimensions, &mut index) {
                return;
            }
        }
    }
}

/// The next element; false behind the last one.
fn advance(dimensions: &[Dimension], index: &mut [isize; 15]) -> bool {
    for (dimension, at) in dimensions.iter().zip(index) {
        *at += 1;
        if *at < dimension.extent {
            return true;
        }
        *at = 0;
    }
    false
}
