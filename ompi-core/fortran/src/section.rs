//! What the compiler says of an argument TYPE(*), DIMENSION(..): CFI_cdesc_t of ISO_Fortran_binding.h.

use crate::arguments::{Buffer, In, Int, Text};
use crate::dimension::Dimension;
use crate::layout::{self, Layout, One};
use crate::peers::{self, Root};
use crate::refusal::Refusal;

/// The head of CFI_cdesc_t, which gfortran and LLVM flang share.
#[repr(C)]
struct Descriptor {
    base: usize,
    element_bytes: usize,
    version: i32,
    rank: u8,
    // Type and attribute stand in different places.
    compilers_own: [u8; 3],
    dimensions: [Dimension; 15],
}

/// A choice buffer that the compiler describes.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Section(*const Descriptor);

impl Section {
    /// The first element.
    #[inline]
    pub fn start(self) -> Buffer {
        // SAFETY: the compiler passes a descriptor.
        Buffer(unsafe { (*self.0).base })
    }

    /// The bytes of one element.
    #[inline]
    pub fn element_bytes(self) -> usize {
        // SAFETY: the compiler passes a descriptor.
        unsafe { (*self.0).element_bytes }
    }

    /// Scalars, whole arrays, and most sections without gaps: a fast look.
    #[inline]
    pub fn is_whole(self) -> bool {
        let mut expected = self.element_bytes() as isize;
        for dimension in self.dimensions() {
            if dimension.stride != expected {
                return false;
            }
            expected = expected.wrapping_mul(dimension.extent);
        }
        true
    }

    /// Has no gaps: only dimensions without elements, or with one, may have other strides.
    pub fn is_contiguous(self) -> bool {
        let mut expected = self.element_bytes() as isize;
        for dimension in self.dimensions() {
            if dimension.extent == 0 {
                return true;
            }
            if dimension.stride != expected && dimension.extent != 1 {
                return false;
            }
            expected = expected.wrapping_mul(dimension.extent);
        }
        true
    }

    /// The first `count` times `datatype` of the section as one datatype; nothing where only a copy will do.
    pub fn layout<T: One>(self, count: In<T>, datatype: In<Int>) -> Result<Option<Layout<T>>, Refusal> {
        self.layout_above(count, datatype, 0)
    }

    /// The same, but nothing where a copy takes less time, too.
    pub fn layout_or_copy<T: One>(self, count: In<T>, datatype: In<Int>) -> Result<Option<Layout<T>>, Refusal> {
        self.layout_above(count, datatype, SHORT)
    }

    fn layout_above<T: One>(self, count: In<T>, datatype: In<Int>, short: i64) -> Result<Option<Layout<T>>, Refusal> {
        // Another buffer of the call has the gaps. This one may be a constant, or the first element of a long array.
        if self.is_contiguous() {
            return Ok(Some(Layout::as_it_is(count, datatype)));
        }
        layout::of(self.dimensions(), self.element_bytes() as i64, (count, datatype), short)
    }

    /// The section where this process is the root, for which alone it is significant; nothing is looked at elsewhere.
    pub fn at_root(self, root: In<Int>, comm: In<Int>) -> Section {
        self.significant(peers::root(root, comm) == Root::Here)
    }

    /// The section, unless this process is in the root's group of an intercommunicator.
    pub fn at_leaf(self, root: In<Int>, comm: In<Int>) -> Section {
        self.significant(peers::root(root, comm) == Root::Elsewhere || !peers::is_inter(comm))
    }

    /// The section, unless this process is in the root's group of an intercommunicator, and not the root.
    pub fn unless_bystander(self, root: In<Int>, comm: In<Int>) -> Section {
        self.significant(peers::root(root, comm) != Root::Bystander)
    }

    /// The section, unless the operation is MPI_NO_OP, which takes nothing from the origin.
    pub fn unless_no_op(self, op: In<Int>) -> Section {
        self.significant(op.handle() != NO_OP)
    }

    fn significant(self, is: bool) -> Section {
        if is { self } else { Section(&raw const NOTHING) }
    }

    /// Outermost last; a descriptor lives as long as the call.
    #[inline]
    pub fn dimensions(&self) -> &[Dimension] {
        // SAFETY: the compiler passes a descriptor.
        let rank = usize::from(unsafe { (*self.0).rank });
        // SAFETY: as before; no reference to the whole, which may be shorter than its type.
        let first = unsafe { (&raw const (*self.0).dimensions).cast::<Dimension>() };
        // SAFETY: the descriptor has as many dimensions as it says.
        unsafe { core::slice::from_raw_parts(first, rank) }
    }
}

const NO_OP: usize = 0x3d;

/// A scalar nowhere, which C does not look at.
static NOTHING: Descriptor = Descriptor {
    base: 0,
    element_bytes: 0,
    version: 1,
    rank: 0,
    compilers_own: [0; 3],
    dimensions: [Dimension::NONE; 15],
};

/// To make a datatype takes a microsecond; the one of a section that comes again is kept.
const SHORT: i64 = 4096;

/// A text that the compiler describes, because the procedure has a choice buffer, too.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct TextSection(Section);

impl TextSection {
    /// As the other procedures get it.
    pub fn text(self) -> Text {
        Text(self.0.start().0 as *mut u8)
    }

    /// Its length.
    pub fn length(self) -> usize {
        self.0.element_bytes()
    }
}
