//! What the rows that read and write files have in common.

use crate::data::Data;
use crate::error::{Class, Fault, Result};
use crate::file::{File, Outcome};
use crate::framework::fbtl::AccessKind;
use crate::framework::io::{FileAccess, Start, Whence};
use crate::request::{self, Driver, Kind};
use crate::status::Status;
use alloc::format;
use core::ffi::c_int;

/// Reads into memory.
///
/// # Safety
/// The data is writable.
pub(super) unsafe fn read(file: &File, start: Start, data: &Data<'_>, collective: bool) -> Outcome {
    let access = FileAccess { start, data, direction: AccessKind::Read, collective };
    // SAFETY: the caller's promise.
    unsafe { file.module.access(&access) }
}

/// Writes from memory.
///
/// # Safety
/// The data is readable.
pub(super) unsafe fn write(file: &File, start: Start, data: &Data<'_>, collective: bool) -> Outcome {
    let access = FileAccess { start, data, direction: AccessKind::Write, collective };
    // SAFETY: the caller's promise.
    unsafe { file.module.access(&access) }
}

impl Outcome {
    /// Fills the user's status with what was moved, also when a part failed.
    pub(super) fn deliver(self, status: Option<&mut Status>) -> Result<()> {
        status_of(self.bytes).write_to(status);
        self.ended
    }
}

/// The handle of a request for an access that was done at once: its count is in the request's status, a failure is the call's.
pub(super) fn done(outcome: Outcome) -> Result<usize> {
    outcome.ended?;
    let request = request::create(Kind::Generic, &Done, 0)?;
    request::complete(request.id(), status_of(outcome.bytes));
    Ok(request.into_handle())
}

/// MPI_SEEK_SET and its like.
pub(super) fn whence(whence: c_int) -> Result<Whence> {
    match whence {
        403 => Ok(Whence::Set),
        401 => Ok(Whence::Current),
        402 => Ok(Whence::End),
        _ => {
            let why = format!("{whence} is none of MPI_SEEK_SET, MPI_SEEK_CUR and MPI_SEEK_END");
            Err(Fault::new(Class::Arg).argument("whence").because(why))
        }
    }
}

fn status_of(bytes: u64) -> Status {
    let mut status = Status::EMPTY;
    status.set_bytes(bytes);
    status
}

/// Nothing is left to do for it.
struct Done;

impl Driver for Done {}
