//! Copies between this process's memory and that of a target.
#![allow(unsafe_code)]

use alloc::format;
use alloc::vec::Vec;
use ompi_core::data::{Data, no_room};
use ompi_core::datatype::Datatype;
use ompi_core::error::{Class, Fault, Result};
use ompi_core::win::node::TargetData;
use opal_core::Error;
use opal_core::framework::smsc::{Endpoint, Piece};

/// Data of another process.
pub struct Remote<'a> {
    endpoint: Endpoint,
    // Its address is one of the other process's, and never used as one of this one's.
    data: Data<'a>,
}

#[derive(Clone, Copy)]
enum Direction {
    From,
    To,
}

impl<'a> Remote<'a> {
    /// At an address there.
    pub fn new(endpoint: Endpoint, at: usize, data: Data<'a>) -> Remote<'a> {
        Remote { endpoint, data: Data { at: core::ptr::without_provenance_mut(at), ..data } }
    }

    /// Copies all of it.
    ///
    /// # Safety
    /// `local` is readable or writable, as the direction says.
    unsafe fn copy_all(&self, direction: Direction, local: &Data<'_>) -> Result<()> {
        let bytes = local.bytes();
        if bytes != self.data.bytes() {
            return Err(Class::Truncate.into());
        }
        if let Some(at) = local.contiguous() {
            // SAFETY: the caller's promise.
            return unsafe { self.copy(direction, 0, bytes, at) };
        }
        let portion = bytes.min(PORTION);
        let mut packed: Vec<u8> = Vec::new();
        packed.try_reserve_exact(portion).map_err(|_| no_room(portion))?;
        let at = packed.as_mut_ptr();
        // SAFETY: the caller's promise; the convertor ends before this function.
        let mut convertor = unsafe { local.convertor() };
        let mut done = 0;
        while done < bytes {
            let now = portion.min(bytes - done);
            match direction {
                Direction::To => {
                    // SAFETY: there is room for `now` bytes.
                    let now = unsafe { convertor.pack(at, now) };
                    // SAFETY: they were just written.
                    unsafe { self.copy(direction, done, now, at)? };
                    done += now;
                }
                Direction::From => {
                    // SAFETY: there is room for `now` bytes.
                    unsafe { self.copy(direction, done, now, at)? };
                    // SAFETY: they were just written.
                    unsafe { convertor.unpack(at, now) };
                    done += now;
                }
            }
        }
        Ok(())
    }

    /// Copies `bytes` of its bytes of data from byte `skip` on.
    ///
    /// # Safety
    /// `at` is readable or writable for `bytes`.
    unsafe fn copy(&self, direction: Direction, skip: usize, bytes: usize, at: *mut u8) -> Result<()> {
        let Data { at: there, datatype, .. } = self.data;
        if let Some(there) = self.data.contiguous() {
            let piece = Piece { at: (there.addr() + skip) as u64, bytes };
            // SAFETY: the caller's promise.
            return unsafe { self.copy_pieces(direction, &[piece], at) };
        }
        let mut pieces = [Piece { at: 0, bytes: 0 }; PIECES];
        let (mut count, mut gathered, mut done) = (0, 0, 0);
        let mut copied = Ok(());
        datatype.layout.runs_from(skip, bytes, &mut |run| {
            pieces[count] = Piece { at: there.wrapping_offset(run.offset).addr() as u64, bytes: run.bytes };
            count += 1;
            gathered += run.bytes;
            if count == PIECES {
                // SAFETY: the runs are `bytes` long together, so that these lie within what the caller promised.
                copied = unsafe { self.copy_pieces(direction, &pieces, at.wrapping_add(done)) };
                done += gathered;
                (count, gathered) = (0, 0);
            }
            copied.is_ok()
        });
        copied?;
        // SAFETY: as above.
        unsafe { self.copy_pieces(direction, &pieces[..count], at.wrapping_add(done)) }
    }

    /// # Safety
    /// `at` is readable or writable for as many bytes as the pieces have together.
    unsafe fn copy_pieces(&self, direction: Direction, pieces: &[Piece], at: *mut u8) -> Result<()> {
        let endpoint = &self.endpoint;
        let copied = match (direction, pieces) {
            // SAFETY: the caller's promise, here and below.
            (Direction::From, [one]) => unsafe { endpoint.copy_from(one.at, at, one.bytes) },
            // SAFETY: as above.
            (Direction::To, [one]) => unsafe { endpoint.copy_to(one.at, at, one.bytes) },
            // SAFETY: as above.
            (Direction::From, _) => unsafe { endpoint.gather_from(pieces, at) },
            // SAFETY: as above.
            (Direction::To, _) => unsafe { endpoint.scatter_to(pieces, at) },
        };
        copied.map_err(failed)
    }
}

impl TargetData for Remote<'_> {
    fn datatype(&self) -> &Datatype {
        self.data.datatype
    }

    fn bytes(&self) -> usize {
        self.data.bytes()
    }

    unsafe fn write(&self, from: &Data<'_>) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.copy_all(Direction::To, from) }
    }

    unsafe fn read(&self, to: &Data<'_>) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.copy_all(Direction::From, to) }
    }
}

/// Reads pairs of numbers of another process, wherever it says that they are.
pub fn read_pairs(endpoint: Endpoint, at: u64, count: u64) -> Result<Vec<(usize, usize)>> {
    let none = |_| no_room(usize::MAX);
    let count = usize::try_from(count).map_err(none)?;
    // Whatever the other process says: no memory for more attached regions than anybody has.
    if count > MOST_PAIRS {
        return Err(none_so_many(count));
    }
    let bytes = count.saturating_mul(size_of::<[u64; 2]>());
    let mut pairs: Vec<[u64; 2]> = Vec::new();
    pairs.try_reserve_exact(count).map_err(|_| no_room(bytes))?;
    pairs.resize(count, [0; 2]);
    // SAFETY: the vector has so many bytes, and any bytes are numbers.
    let copied = unsafe { endpoint.copy_from(at, pairs.as_mut_ptr().cast(), bytes) };
    copied.map_err(failed)?;
    Ok(pairs.iter().map(|[base, bytes]| (*base as usize, *bytes as usize)).collect())
}

/// As many regions fit into 256 MiB.
const MOST_PAIRS: usize = 1 << 24;

#[cold]
#[inline(never)]
fn none_so_many(count: usize) -> Fault {
    Fault::new(Class::RmaRange).argument("target_disp").because(format!(
        "the target says that {count} regions are attached, which cannot be: its memory was overwritten"
    ))
}

#[cold]
fn failed(error: Error) -> Fault {
    match error {
        Error::Invalid => Fault::new(Class::RmaRange).argument("target_disp").because(
            "the system found no such memory at the target, or the target may not write it; was it freed or unmapped?",
        ),
        Error::Permission => Fault::new(Class::RmaConflict).because(
            "the system does not let this process reach the target's memory any more; --mca osc ^cma does without",
        ),
        other => Fault::from(other),
    }
}

/// Data with gaps here is packed in portions, which stay in the cache.
const PORTION: usize = 256 << 10;
/// Pieces of one call of the system.
const PIECES: usize = 64;
