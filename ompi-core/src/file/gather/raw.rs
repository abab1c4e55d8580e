//! The user's data, and collective operations on vectors.
#![allow(unsafe_code)]

use super::super::place::FilePlace;
use crate::comm::Communicator;
use crate::data::{Blocks, Counts, Data, Source};
use crate::error::{Class, Result};
use crate::framework::coll::Call;
use crate::framework::fbtl::{AccessKind, Moved, Piece};
use crate::{datatype, executor, op};
use alloc::vec::Vec;
use core::ops::Range;
use core::ptr;
use opal_core::datatype::Convertor;
use opal_core::framework::smsc::{Endpoint, LocalRun};

/// The user's data, as bytes without gaps.
pub struct UserData {
    convertor: Convertor,
    // Where they are if they lie together.
    straight: Option<*mut u8>,
    bytes: usize,
}

impl UserData {
    /// Over data.
    ///
    /// # Safety
    /// It is readable where it will be packed, writable where it will be unpacked, as long as this lives.
    pub unsafe fn new(data: &Data<'_>) -> UserData {
        // SAFETY: the caller's promise.
        UserData { convertor: unsafe { data.convertor() }, straight: data.contiguous(), bytes: data.bytes() }
    }

    /// How many bytes there are.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Where they are if they lie together.
    pub fn address(&self) -> Option<u64> {
        self.straight.map(|at| at.addr() as u64)
    }

    /// Where `bytes` bytes from a position on are if they lie together.
    fn part(&self, position: usize, bytes: usize) -> Option<*mut u8> {
        let at = self.straight?;
        assert!(position.checked_add(bytes).is_some_and(|end| end <= self.bytes), "beyond the data");
        Some(at.wrapping_add(position))
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
        if let Some(from) = self.part(position, to.len()) {
            // SAFETY: bytes of the data, readable by the promise of `new`; the slice is our own.
            return unsafe { to.as_mut_ptr().copy_from_nonoverlapping(from, to.len()) };
        }
        self.seek(position);
        self.pack_next(to);
    }

    /// Copies `from` to the bytes from a position on.
    pub fn unpack(&mut self, position: usize, from: &[u8]) {
        if let Some(to) = self.part(position, from.len()) {
            // SAFETY: bytes of the data, writable by the promise of `new`; the slice is our own.
            return unsafe { to.copy_from_nonoverlapping(from.as_ptr(), from.len()) };
        }
        self.seek(position);
        self.unpack_next(from);
    }
}

/// Moves parts of a buffer to or from places of a file, in their order.
///
/// # Panics
/// If the buffer has no such part.
pub fn transfer(
    target: &FilePlace<'_>,
    buffer: &mut [u8],
    places: &mut dyn Iterator<Item = (u64, Range<usize>)>,
    direction: AccessKind,
) -> Moved {
    let (mut all, mut pieces) = (Moved { bytes: 0, failed: None }, Vec::new());
    loop {
        pieces.clear();
        for (offset, place) in places.take(PIECES) {
            let part = &mut buffer[place];
            pieces.push(Piece { offset, at: part.as_mut_ptr(), bytes: part.len() });
        }
        if pieces.is_empty() {
            return all;
        }
        // SAFETY: each piece is a part of the buffer.
        let moved = unsafe { target.transfer(&pieces, direction) };
        all = Moved { bytes: all.bytes + moved.bytes, failed: moved.failed };
        if moved.bytes < pieces.iter().map(|piece| piece.bytes).sum() {
            return all;
        }
    }
}

/// Copies what lies at `remote` in another process's memory to places of a buffer, in their order.
///
/// # Panics
/// If the buffer has no such place.
pub fn copy_from(
    endpoint: &Endpoint,
    remote: u64,
    buffer: &mut [u8],
    places: &[Range<usize>],
) -> opal_core::Result<()> {
    let place = |place: Range<usize>| buffer[place].as_mut_ptr();
    // SAFETY: each run is a part of the buffer.
    in_batches(remote, places, place, |remote, runs| unsafe { endpoint.scatter_from(remote, runs) })
}

/// Copies places of a buffer, in their order, to another process's memory at `remote`, which waits for them there.
///
/// # Panics
/// If the buffer has no such place.
pub fn copy_to(endpoint: &Endpoint, remote: u64, buffer: &[u8], places: &[Range<usize>]) -> opal_core::Result<()> {
    let place = |place: Range<usize>| buffer[place].as_ptr().cast_mut();
    // SAFETY: each run is a part of the buffer, and is only read.
    in_batches(remote, places, place, |remote, runs| unsafe { endpoint.gather_to(remote, runs) })
}

fn in_batches(
    mut remote: u64,
    places: &[Range<usize>],
    mut address: impl FnMut(Range<usize>) -> *mut u8,
    mut copy: impl FnMut(u64, &[LocalRun]) -> opal_core::Result<()>,
) -> opal_core::Result<()> {
    for batch in places.chunks(RUNS) {
        let mut runs = [LocalRun { at: ptr::null_mut(), bytes: 0 }; RUNS];
        for (run, place) in runs.iter_mut().zip(batch) {
            *run = LocalRun { at: address(place.clone()), bytes: place.len() };
        }
        copy(remote, &runs[..batch.len()])?;
        remote += batch.iter().map(|place| place.len() as u64).sum::<u64>();
    }
    Ok(())
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
/// And copied from or to another process, listed on the stack.
const RUNS: usize = 256;
