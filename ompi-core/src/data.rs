//! What a call moves: buffers with counts and datatypes, as checked by the C layer and passed down by reference.
#![allow(unsafe_code)]

use crate::datatype::Datatype;
use opal_core::datatype::Convertor;

/// `count` elements of a datatype at an address.
#[derive(Clone, Copy, Debug)]
pub struct Data<'a> {
    /// First element; may be null (MPI_BOTTOM) when the layout's offsets are absolute or nothing is moved.
    pub at: *mut u8,
    /// Number of elements.
    pub count: usize,
    /// Of this type, committed.
    pub datatype: &'a Datatype,
}

impl<'a> Data<'a> {
    /// Bytes of data, without gaps.
    #[inline(always)]
    pub fn bytes(&self) -> usize {
        self.count * self.datatype.layout.size()
    }

    /// The same kind of data `elements` extents further on, `count` of them.
    pub fn at_element(&self, elements: isize, count: usize) -> Data<'a> {
        let at = self.at.wrapping_offset(elements * self.datatype.layout.extent());
        Data { at, count, datatype: self.datatype }
    }

    /// The address of the bytes if they are one run.
    #[inline(always)]
    pub fn contiguous(&self) -> Option<*mut u8> {
        self.datatype.layout.is_contiguous().then_some(self.at)
    }

    /// A convertor at its start.
    ///
    /// # Safety
    /// The memory stays valid for reading or writing, as it will be used, as long as the convertor lives.
    pub unsafe fn convertor(&self) -> Convertor {
        // SAFETY: the caller's promise.
        unsafe { Convertor::new(self.datatype.layout.clone(), self.at, self.count) }
    }
}

/// A send buffer of a collective operation, or MPI_IN_PLACE.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// The data already lies in the receive buffer.
    InPlace,
    /// From here.
    From(Data<'a>),
}

/// An array of counts or displacements, in either of the C interface's widths.
#[derive(Clone, Copy, Debug)]
pub enum Counts<'a> {
    /// `int`.
    Int(&'a [i32]),
    /// `MPI_Count` or `MPI_Aint`.
    Large(&'a [i64]),
}

impl Counts<'_> {
    /// Element `index`; the C layer has checked that counts are not negative.
    #[inline]
    pub fn get(&self, index: usize) -> isize {
        match self {
            Counts::Int(all) => all[index] as isize,
            Counts::Large(all) => all[index] as isize,
        }
    }

    /// Element `index` as a count.
    #[inline]
    pub fn count(&self, index: usize) -> usize {
        self.get(index) as usize
    }
}

/// A buffer with one block per rank: counts and displacements in extents of one datatype.
#[derive(Clone, Copy, Debug)]
pub struct Blocks<'a> {
    /// Displacement 0.
    pub at: *mut u8,
    /// Elements per rank.
    pub counts: Counts<'a>,
    /// In extents of the datatype.
    pub displacements: Counts<'a>,
    /// Of all blocks.
    pub datatype: &'a Datatype,
}

impl<'a> Blocks<'a> {
    /// The block of a rank.
    pub fn block(&self, rank: usize) -> Data<'a> {
        let whole = Data { at: self.at, count: 0, datatype: self.datatype };
        whole.at_element(self.displacements.get(rank), self.counts.count(rank))
    }
}

/// A buffer with one block per rank, each of its own datatype; displacements in bytes (MPI_Alltoallw).
#[derive(Clone, Copy, Debug)]
pub struct TypedBlocks<'a> {
    /// Displacement 0.
    pub at: *mut u8,
    /// Elements per rank.
    pub counts: Counts<'a>,
    /// In bytes.
    pub displacements: Counts<'a>,
    /// Per rank.
    pub datatypes: &'a [&'a Datatype],
}

impl<'a> TypedBlocks<'a> {
    /// The block of a rank.
    pub fn block(&self, rank: usize) -> Data<'a> {
        let at = self.at.wrapping_offset(self.displacements.get(rank));
        Data { at, count: self.counts.count(rank), datatype: self.datatypes[rank] }
    }
}
