//! The user's data, and collective operations on vectors.
#![allow(unsafe_code)]

use crate::runs::Run;
use alloc::vec::Vec;
use ompi_core::comm::Communicator;
use ompi_core::data::{Blocks, Counts, Data};
use ompi_core::datatype;
use ompi_core::error::{Class, Result};
use ompi_core::executor;
use ompi_core::file::FilePlace;
use ompi_core::framework::coll::Call;
use ompi_core::framework::fbtl::{AccessKind, Moved, Piece};
use opal_core::datatype::Convertor;

/// The user's data, as bytes without gaps.
pub struct UserData {
    convertor: Convertor,
    bytes: usize,
}

impl UserData {
    /// Over data.
    ///
    /// # Safety
    /// It is readable where it will be packed, writable where it will be unpacked, as long as this lives.
    pub unsafe fn new(data: &Data<'_>) -> UserData {
        // SAFETY: the caller's promise.
        UserData { convertor: unsafe { data.convertor() }, bytes: data.bytes() }
    }

    /// How many bytes there are.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Goes to a position.
    pub fn seek(&mut self, position: usize) {
        self.convertor.seek(position);
    }

    /// Copies the next bytes to `to`.
    pub fn pack_next(&mut self, to: &mut [u8]) {
        // SAFETY: a slice of our own; readable by the promise of `new`.
        unsafe { self.convertor.pack(to.as_mut_ptr(), to.len()) };
    }

    /// Copies `from` to the next bytes.
    pub fn unpack_next(&mut self, from: &[u8]) {
        // SAFETY: a slice of our own; writable by the promise of `new`.
        unsafe { self.convertor.unpack(from.as_ptr(), from.len()) };
    }

    /// Copies the bytes from a position on to `to`.
    pub fn pack(&mut self, position: usize, to: &mut [u8]) {
        self.seek(position);
        self.pack_next(to);
    }

    /// Copies `from` to the bytes from a position on.
    pub fn unpack(&mut self, position: usize, from: &[u8]) {
        self.seek(position);
        self.unpack_next(from);
    }
}

/// Moves runs between a file and a window of it that begins at byte `base`.
pub fn transfer(target: &FilePlace<'_>, window: &mut [u8], base: u64, runs: &[Run], direction: AccessKind) -> Moved {
    let at = window.as_mut_ptr();
    let piece = |run: &Run| {
        assert!(run.end() <= window.len());
        let offset = run.offset as usize;
        Piece { offset: base + offset as u64, at: at.wrapping_add(offset), bytes: run.bytes as usize }
    };
    let mut all = Moved { bytes: 0, failed: None };
    for runs in runs.chunks(PIECES) {
        let pieces: Vec<Piece> = runs.iter().map(piece).collect();
        // SAFETY: each piece lies in the window, by the assertion.
        let moved = unsafe { target.transfer(&pieces, direction) };
        all = Moved { bytes: all.bytes + moved.bytes, failed: moved.failed };
        if moved.bytes < runs.iter().map(|run| run.bytes as usize).sum() {
            break;
        }
    }
    all
}

/// What vectors have that are sent: any bytes are a value.
///
/// # Safety
/// No padding, no value that is none.
pub unsafe trait Plain: Copy + Default {}
// SAFETY: an integer.
unsafe impl Plain for u8 {}
// SAFETY: an integer.
unsafe impl Plain for u64 {}

/// MPI_Alltoallv of values that lie one behind the other, by rank.
pub fn alltoallv<T: Plain>(
    comm: &Communicator,
    mine: &[T],
    to: &[usize],
    theirs: &mut [T],
    from: &[usize],
) -> Result<()> {
    let byte = datatype::get(datatype::BYTE).ok_or(Class::Type)?;
    let (to, from) = (Columns::new::<T>(to), Columns::new::<T>(from));
    assert!(to.bytes <= size_of_val(mine) && from.bytes <= size_of_val(theirs));
    let out = to.blocks(mine.as_ptr().cast_mut().cast(), &byte);
    let into = from.blocks(theirs.as_mut_ptr().cast(), &byte);
    // SAFETY: both slices have the bytes of their blocks, by the assertion; a plain type takes any.
    unsafe { executor::run(comm, &Call::Alltoallv(Some(&out), &into)) }
}

/// Counts and displacements in bytes.
struct Columns {
    counts: Vec<i64>,
    displacements: Vec<i64>,
    bytes: usize,
}

impl Columns {
    fn new<T>(counts: &[usize]) -> Columns {
        let (mut bytes, mut displacements) = (0, Vec::new());
        for count in counts {
            displacements.push(bytes as i64);
            bytes += count * size_of::<T>();
        }
        let counts = counts.iter().map(|count| (count * size_of::<T>()) as i64).collect();
        Columns { counts, displacements, bytes }
    }

    fn blocks<'a>(&'a self, at: *mut u8, datatype: &'a datatype::Datatype) -> Blocks<'a> {
        Blocks { at, counts: Counts::Large(&self.counts), displacements: Counts::Large(&self.displacements), datatype }
    }
}

/// Runs that are moved at a time.
const PIECES: usize = 1024;
