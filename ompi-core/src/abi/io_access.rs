//! What the rows that read and write files have in common.

use crate::data::Data;
use crate::error::{Class, Fault, Result};
use crate::file::{self, File, FileCall, Outcome};
use crate::framework::fbtl::AccessKind;
use crate::framework::io::{Begun, FileAccess, Start, Whence};
use crate::request::{self, Driver, Kind};
use crate::status::Status;
use alloc::format;
use core::ffi::c_int;

/// Reads into memory.
///
/// # Safety
/// The data is writable.
pub(super) unsafe fn read(file: &File, start: Start, data: &Data<'_>) -> Outcome {
    let access = FileAccess { start, data, direction: AccessKind::Read };
    // SAFETY: the caller's promise.
    unsafe { file.module.access(&access) }
}

/// Reads into memory, together with the other processes of the file; `data` may be this one's fault.
///
/// # Safety
/// The data is writable.
pub(super) unsafe fn read_all(file: &File, call: FileCall, start: Start, data: Result<Data<'_>>) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe { all(file, call, start, data, AccessKind::Read) }
}

/// Writes from memory.
///
/// # Safety
/// The data is readable.
pub(super) unsafe fn write(file: &File, start: Start, data: &Data<'_>) -> Outcome {
    let access = FileAccess { start, data, direction: AccessKind::Write };
    // SAFETY: the caller's promise.
    unsafe { file.module.access(&access) }
}

/// Writes from memory, together with the other processes of the file; `data` may be this one's fault.
///
/// # Safety
/// The data is readable.
pub(super) unsafe fn write_all(file: &File, call: FileCall, start: Start, data: Result<Data<'_>>) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe { all(file, call, start, data, AccessKind::Write) }
}

/// # Safety
/// That of [`read_all`] or [`write_all`].
unsafe fn all(file: &File, call: FileCall, start: Start, data: Result<Data<'_>>, direction: AccessKind) -> Outcome {
    let data = file.split.none_pending().and(data);
    let access = data.as_ref().map(|data| FileAccess { start, data, direction }).map_err(Fault::clone);
    // SAFETY: the caller's promise.
    unsafe { file.module.access_all(call, access) }
}

impl Outcome {
    /// Fills the user's status with what was moved, also when a part failed.
    pub(super) fn deliver(self, status: Option<&mut Status>) -> Result<()> {
        status_of(self.bytes).write_to(status);
        self.ended
    }
}

/// Begins an access: the handle of its request.
///
/// # Safety
/// The data is readable (to write it) or writable (to read into it) until the request is complete.
pub(super) unsafe fn begin(file: &File, start: Start, data: &Data<'_>, direction: AccessKind) -> Result<usize> {
    // SAFETY: the caller's promise.
    match unsafe { file.module.start(&FileAccess { start, data, direction }) } {
        Begun::Done(outcome) => done(outcome),
        Begun::Underway(underway) => file::keep(underway, file.context, &file.path),
    }
}

/// The handle of a request for an access that was done at once: its count is in the request's status, a failure is the call's.
fn done(outcome: Outcome) -> Result<usize> {
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
