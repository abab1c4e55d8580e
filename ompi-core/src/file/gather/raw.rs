//! The user's data, and collective operations on vectors.
#![allow(unsafe_code)]

use super::super::place::FilePlace;
use super::runs::WindowRun;
use crate::comm::Communicator;
use crate::data::{Blocks, Counts, Data, Source};
use crate::error::{Class, Result};
use crate::framework::coll::Call;
use crate::framework::fbtl::{AccessKind, Moved, Piece};
use crate::{datatype, executor, op};
use alloc::vec::Vec;
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

/// Moves runs between a window of a file that begins at byte `base` and a buffer, in which they lie one behind the other.
pub fn transfer(
    target: &FilePlace<'_>,
    buffer: &mut [u8],
    base: u64,
    runs: &[WindowRun],
    direction: AccessKind,
) -> Moved {
    let mut all = Moved { bytes: 0, failed: None };
    let mut rest = buffer;
    for runs in runs.chunks(PIECES) {
        let mut pieces = Vec::with_capacity(runs.len());
        for run in runs {
            let (piece, behind) = rest.split_at_mut(run.bytes as usize);
            pieces.push(Piece { offset: base + u64::from(run.offset), at: piece.as_mut_ptr(), bytes: piece.len() });
            rest = behind;
        }
        // SAFETY: each piece is a part of the buffer.
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

/// The sums of words over all processes, in their place.
pub fn sum_words(comm: &Communicator, words: &mut [u64]) -> Result<()> {
    let word = datatype::get(datatype::UINT64).ok_or(Class::Type)?;
    let sum = op::borrow(op::SUM).ok_or(Class::Op)?;
    let data = Data { at: words.as_mut_ptr().cast(), count: words.len(), datatype: &word };
    // SAFETY: so many words, which outlive the call.
    unsafe { executor::run(comm, &Call::Allreduce(Source::InPlace, &data, sum)) }
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
