//! What a call moves: buffers with counts and datatypes, as checked by the C layer and passed down by reference.
#![allow(unsafe_code)]

use crate::datatype::Datatype;
use crate::error::{Class, Fault, Result};
use alloc::format;
use alloc::vec::Vec;
use core::mem::MaybeUninit;
use opal_core::datatype::Convertor;
use opal_core::framework::memcpy;

pub use crate::counts::Counts;
pub use crate::error::no_room;

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
        self.datatype.layout.run_of(self.count).map(|offset| self.at.wrapping_offset(offset))
    }

    /// Packs all of it to `to`.
    ///
    /// # Safety
    /// The data is readable, `to` writable for as many bytes, and they do not overlap.
    #[inline]
    pub unsafe fn pack(&self, to: *mut u8) {
        match self.contiguous() {
            // SAFETY: the caller's promise.
            Some(run) => unsafe { memcpy::copy(to, run, self.bytes()) },
            // SAFETY: likewise.
            None => _ = unsafe { self.datatype.layout.pack(self.at, self.count, to, self.bytes()) },
        }
    }

    /// Unpacks `bytes` bytes, at most all of it.
    ///
    /// # Safety
    /// The data is writable, `from` readable for `bytes`, and they do not overlap.
    #[inline]
    pub unsafe fn unpack(&self, from: *const u8, bytes: usize) {
        match self.contiguous() {
            // SAFETY: the caller's promise; no more than there is room for.
            Some(run) => unsafe { memcpy::copy(run, from, bytes.min(self.bytes())) },
            // SAFETY: likewise.
            None => _ = unsafe { self.datatype.layout.unpack(self.at, self.count, from, bytes) },
        }
    }

    /// A convertor at its start.
    ///
    /// # Safety
    /// The memory stays valid for reading or writing, as it will be used, as long as the convertor lives.
    pub unsafe fn convertor(&self) -> Convertor {
        // SAFETY: the caller's promise.
        unsafe { Convertor::new(self.datatype.layout.clone(), self.at, self.count) }
    }

    /// A copy of the data in one piece; `Err(NoMem)`.
    ///
    /// # Safety
    /// The data is readable.
    pub unsafe fn packed(&self) -> Result<Vec<u8>> {
        let mut copy = Vec::new();
        copy.try_reserve_exact(self.bytes()).map_err(|_| no_room(self.bytes()))?;
        // SAFETY: the vector has room for the data, which is readable by the caller's promise.
        unsafe { self.pack(copy.as_mut_ptr()) };
        // SAFETY: so many bytes were just written.
        unsafe { copy.set_len(self.bytes()) };
        Ok(copy)
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

/// Copies data from one place to another of this process; their types may differ, their bytes are the same.
///
/// `Err(Truncate)` if there is more than `to` has room for; nothing is copied then.
///
/// # Safety
/// `from` is readable, `to` writable, and they do not overlap.
pub unsafe fn copy(from: &Data<'_>, to: &Data<'_>) -> Result<()> {
    let bytes = from.bytes();
    if bytes > to.bytes() {
        let reason = format!("{bytes} bytes do not fit in a receive buffer of {}", to.bytes());
        return Err(Fault::new(Class::Truncate).because(reason));
    }
    if bytes == 0 {
        return Ok(());
    }
    match (from.contiguous(), to.contiguous()) {
        // SAFETY: both are runs of at least `bytes`.
        (Some(from), Some(to)) => unsafe { memcpy::copy(to, from, bytes) },
        // SAFETY: `to` is a run of at least as many bytes that does not overlap; readable by the caller's promise.
        (None, Some(to)) => unsafe { from.pack(to) },
        // SAFETY: `from` is a run of `bytes` that does not overlap; writable by the caller's promise.
        (Some(from), None) => unsafe { to.unpack(from, bytes) },
        // SAFETY: the caller's promise.
        (None, None) => unsafe { copy_with_gaps(from, to) },
    }
    Ok(())
}

/// # Safety
/// That of [`copy`], and there is room.
unsafe fn copy_with_gaps(from: &Data<'_>, to: &Data<'_>) {
    let layouts = (&from.datatype.layout, &to.datatype.layout);
    if (from.count, to.count) == (1, 1)
        // SAFETY: one element each, by the caller's promise.
        && unsafe { layouts.0.copy_strided(from.at, layouts.1, to.at) }
    {
        return;
    }
    // SAFETY: the caller's promise.
    unsafe { copy_through(from, to) }
}

/// Copies by way of a small packed buffer that stays in the cache.
///
/// # Safety
/// That of [`copy`], and there is room.
unsafe fn copy_through(from: &Data<'_>, to: &Data<'_>) {
    let mut packed = [const { MaybeUninit::<u8>::uninit() }; 8192];
    let between = packed.as_mut_ptr().cast::<u8>();
    if from.bytes() <= packed.len() {
        // SAFETY: a buffer that is long enough; readable by the caller's promise.
        unsafe { from.pack(between) };
        // SAFETY: so many bytes were just written; writable by the caller's promise.
        return unsafe { to.unpack(between, from.bytes()) };
    }
    // SAFETY: readable by the caller's promise.
    let mut out = unsafe { from.convertor() };
    // SAFETY: writable by the caller's promise.
    let mut into = unsafe { to.convertor() };
    loop {
        // SAFETY: a buffer of this length of our own.
        let bytes = unsafe { out.pack(between, packed.len()) };
        if bytes == 0 {
            return;
        }
        // SAFETY: `bytes` bytes were just written.
        unsafe { into.unpack(between, bytes) };
    }
}

/// Memory for elements of a datatype, wherever its bounds lie.
pub struct Room {
    lines: Vec<Line>,
    // From the first byte of memory to the address of element 0.
    origin: isize,
}

#[repr(C, align(64))]
struct Line([MaybeUninit<u8>; 64]);

impl Room {
    /// Room for the data of `count` elements and what lies between; `Err(NoMem)`.
    pub fn new(count: usize, datatype: &Datatype) -> Result<Room> {
        let layout = &datatype.layout;
        let fault = || no_room(count.saturating_mul(layout.size()));
        if count == 0 || layout.size() == 0 {
            return Ok(Room { lines: Vec::new(), origin: 0 });
        }
        let last =
            isize::try_from(count - 1).ok().and_then(|last| last.checked_mul(layout.extent())).ok_or_else(fault)?;
        let bytes = last.unsigned_abs().checked_add(layout.true_extent() as usize).ok_or_else(fault)?;
        let mut lines = Vec::new();
        lines.try_reserve_exact(bytes.div_ceil(64)).map_err(|_| fault())?;
        Ok(Room { lines, origin: -(layout.true_lb() + last.min(0)) })
    }

    /// Where element 0 is addressed, as MPI counts addresses; data lies from its true lower bound on.
    pub fn at(&mut self) -> *mut u8 {
        self.lines.as_mut_ptr().cast::<u8>().wrapping_offset(self.origin)
    }
}

// SAFETY: owns plain memory.
unsafe impl Send for Room {}
