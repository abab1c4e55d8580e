//! The user's data, and collective operations on vectors.
#![allow(unsafe_code)]

use crate::runs::Run;
use alloc::vec;
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

    /// Copies the bytes from a position on to `to`.
    pub fn pack(&mut self, position: usize, to: &mut [u8]) {
        self.convertor.seek(position);
        // SAFETY: a slice of our own; readable by the promise of `new`.
        unsafe { self.convertor.pack(to.as_mut_ptr(), to.len()) };
    }

    /// Copies `from` to the bytes from a position on.
    pub fn unpack(&mut self, position: usize, from: &[u8]) {
        self.convertor.seek(position);
        // SAFETY: a slice of our own; writable by the promise of `new`.
        unsafe { self.convertor.unpack(from.as_ptr(), from.len()) };
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
    let pieces: Vec<Piece> = runs.iter().map(piece).collect();
    // SAFETY: each piece lies in the window, by the assertion.
    unsafe { target.transfer(&pieces, direction) }
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
// SAFETY: two integers of one size.
unsafe impl Plain for Run {}

/// MPI_Alltoall of one value for each process.
pub fn alltoall<T: Plain>(comm: &Communicator, mine: &[T]) -> Result<Vec<T>> {
    let counts = vec![1; comm.size()];
    alltoallv(comm, mine, &counts, &counts)
}

/// MPI_Alltoallv of values that lie one behind the other, by rank.
pub fn alltoallv<T: Plain>(comm: &Communicator, mine: &[T], to: &[usize], from: &[usize]) -> Result<Vec<T>> {
    let byte = datatype::get(datatype::BYTE).ok_or(Class::Type)?;
    let mut theirs = vec![T::default(); from.iter().sum()];
    let (to, from) = (Columns::new::<T>(to), Columns::new::<T>(from));
    assert!(to.bytes <= size_of_val(mine) && from.bytes <= size_of_val(&theirs[..]));
    let out = to.blocks(mine.as_ptr().cast_mut().cast(), &byte);
    let into = from.blocks(theirs.as_mut_ptr().cast(), &byte);
    // SAFETY: both vectors have the bytes of their blocks, by the assertion; a plain type takes any.
    unsafe { executor::run(comm, Call::Alltoallv(Some(&out), &into)) }?;
    Ok(theirs)
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
