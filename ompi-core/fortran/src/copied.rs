//! A section with gaps as a copy without, for what takes no datatype of one's own: reductions, procedures that put the data of several
//! processes one behind the other, and datatypes that are larger than an element of the section.

use crate::arguments::Buffer;
use crate::dimension::Dimension;
use crate::memory::Memory;
use crate::reach::Reach;
use crate::refusal::Refusal;
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
    /// Refused where the section has gaps and less than the call reaches.
    pub fn of(section: Section, reach: impl FnOnce() -> Reach) -> Result<Copied, Refusal> {
        let (start, element_bytes) = (section.start().0, section.element_bytes());
        let mut dimensions = [Dimension::NONE; RANKS];
        let rank = section.dimensions().len().min(RANKS);
        dimensions[..rank].copy_from_slice(&section.dimensions()[..rank]);
        let mut copied = Copied { start, element_bytes, rank, dimensions, copy: None };
        if !section.is_contiguous() {
            reach().within(i64::try_from(copied.bytes()).unwrap_or(i64::MAX))?;
            copied.copy = Some(Memory::new(copied.bytes()).ok_or(Refusal::NoMemory)?);
            copied.copy_in(0, copied.bytes());
        }
        Ok(copied)
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
        self.each(from, to, |strip| strip.copy(true));
    }

    /// What the procedure wrote goes where it belongs.
    pub fn copy_back(&self) {
        self.copy_out(0, self.bytes());
    }

    /// The same of these bytes alone.
    pub fn copy_out(&self, from: usize, to: usize) {
        self.each(from, to, |strip| strip.copy(false));
    }

    fn shape(&self) -> &[Dimension] {
        &self.dimensions[..self.rank]
    }

    /// Calls `each` with what lies between two distances from the copy's start, strip by strip.
    fn each(&self, from: usize, to: usize, mut each: impl FnMut(Strip)) {
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
        let (mut strip, mut stride) = (1, 0);
        if let [dimension, rest @ ..] = outer {
            (strip, stride, outer) = (dimension.extent.max(0).cast_unsigned(), dimension.stride, rest);
        }
        let bytes = run.saturating_mul(strip);
        let mut index = [0isize; RANKS];
        let mut at = 0;
        loop {
            let distance: isize = outer.iter().zip(index).map(|(one, at)| at * one.stride).sum();
            let whole = Strip {
                there: start.wrapping_offset(distance),
                here: copy.wrapping_add(at),
                run,
                stride,
                count: strip,
            };
            whole.between(from.max(at) - at, to.min(at + bytes).saturating_sub(at), &mut each);
            at += bytes;
            if at >= to || !advance(outer, &mut index) {
                return;
            }
        }
    }
}

/// Runs of bytes at equal distances in the section, and one behind the other in the copy.
#[derive(Clone, Copy)]
struct Strip {
    there: *mut u8,
    here: *mut u8,
    run: usize,
    stride: isize,
    count: usize,
}

impl Strip {
    /// The part between two distances from its start in the copy; a partition may begin and end within a run.
    fn between(self, from: usize, to: usize, each: &mut impl FnMut(Strip)) {
        let mut at = from;
        while at < to {
            let (number, inside) = (at / self.run, at % self.run);
            let there = self.there.wrapping_offset(number.cast_signed() * self.stride).wrapping_add(inside);
            let here = self.here.wrapping_add(at);
            let (run, count) = match (to - at) / self.run {
                runs if inside == 0 && runs > 0 => (self.run, runs),
                _ => ((self.run - inside).min(to - at), 1),
            };
            each(Strip { there, here, run, count, ..self });
            at += run * count;
        }
    }

    /// Elements of the usual sizes without a call for each.
    fn copy(self, into_copy: bool) {
        match self.run {
            1 => self.items::<u8>(into_copy),
            2 => self.items::<u16>(into_copy),
            4 => self.items::<u32>(into_copy),
            8 => self.items::<u64>(into_copy),
            16 => self.items::<[u64; 2]>(into_copy),
            run => self.pairs(into_copy, |from, to| {
                // SAFETY: a run of the section and its place in the copy.
                unsafe { core::ptr::copy_nonoverlapping(from, to, run) };
            }),
        }
    }

    #[inline]
    fn items<T: Copy>(self, into_copy: bool) {
        self.pairs(into_copy, |from, to| {
            // SAFETY: an element of the section or its place in the copy.
            let item = unsafe { from.cast::<T>().read_unaligned() };
            // SAFETY: the other of them.
            unsafe { to.cast::<T>().write_unaligned(item) };
        });
    }

    #[inline]
    fn pairs(self, into_copy: bool, mut copy: impl FnMut(*mut u8, *mut u8)) {
        let (mut there, mut here) = (self.there, self.here);
        for _ in 0..self.count {
            match into_copy {
                true => copy(there, here),
                false => copy(here, there),
            }
            there = there.wrapping_offset(self.stride);
            here = here.wrapping_add(self.run);
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
