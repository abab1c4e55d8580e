//! Accesses under way: progress moves them on, and completes their requests.

use super::failure::failure;
use super::transfer::Underway;
use crate::error::Result;
use crate::framework::fbtl::{AccessKind, Moved};
use crate::request::{self, Driver, Id, Kind, Request};
use crate::status::Status;
use alloc::ffi::CString;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ffi::CStr;
use opal_core::sync::{AtomicUsize, ConditionalLock, Once, Ordering};
use opal_core::wait::{self, EarlySleeps, Subject};
use opal_core::{progress, sys};

/// One of them.
struct Pending {
    underway: Underway,
    id: Id,
    context: u32,
    path: CString,
    // A thread of the system's does it.
    _sleeps: EarlySleeps,
}

/// The handle of a request that is complete when this access is, to the file of this name whose communicator has this context number.
/// Where there can be none the access has ended, too.
pub fn keep(mut underway: Underway, context: u32, path: &CStr) -> Result<usize> {
    let request = match request() {
        Ok(request) => request,
        Err(fault) => {
            while underway.transfer.poll().is_none() {
                sys::yield_now();
            }
            return Err(fault);
        }
    };
    let (id, path) = (request.id(), path.into());
    LIST.lock().push(Pending { underway, id, context, path, _sleeps: EarlySleeps::begin() });
    COUNT.fetch_add(1, Ordering::Relaxed);
    Ok(request.into_handle())
}

/// Why the last access failed that did so after its call, if it was to the file whose communicator has this context number.
pub fn late_reason(context: u32) -> Option<String> {
    FAILED.lock().as_ref().filter(|(failed, _)| *failed == context).map(|(_, reason)| reason.clone())
}

fn request() -> Result<Request> {
    static POLLED: Once<opal_core::Result<()>> = Once::new();
    POLLED.call_once(|| progress::add_callback(poll)).as_ref().map_err(|error| *error)?;
    request::create(Kind::Generic, &Access, 0)
}

/// MPI ends: waits for all that are under way, also for those whose requests the program has freed.
pub fn await_all() {
    // A process of the job that is lost ends the wait, and soon this process.
    let _ = wait::until(|| COUNT.load(Ordering::Relaxed) == 0);
}

fn poll() -> usize {
    if COUNT.load(Ordering::Relaxed) == 0 {
        return 0;
    }
    let Some(mut list) = LIST.try_lock() else { return 0 };
    let mut ended = Vec::new();
    let mut index = 0;
    while index < list.len() {
        match list[index].underway.transfer.poll() {
            None => index += 1,
            Some(moved) => ended.push((list.swap_remove(index), moved)),
        }
    }
    drop(list);
    let some = ended.len();
    for (pending, moved) in ended {
        let status = pending.status(&moved);
        request::complete(pending.id, status);
        COUNT.fetch_sub(1, Ordering::Relaxed);
    }
    some
}

impl Pending {
    fn status(&self, moved: &Moved) -> Status {
        let mut status = Status::EMPTY;
        status.set_bytes(moved.bytes as u64);
        if let Some(errno) = moved.failed {
            let what = match self.underway.direction {
                AccessKind::Read => "cannot be read",
                AccessKind::Write => "cannot be written",
            };
            let (done, offset) = (moved.bytes, self.underway.place(moved.bytes));
            let fault =
                failure(errno, &self.path, &format!("{what} at byte {offset}, after {done} bytes of this call"));
            *FAILED.lock() = Some((self.context, String::from(fault.reason())));
            status.fail(fault.get(), self.context);
        }
        status
    }
}

/// What the request's owner does: all of it is done by progress.
struct Access;

impl Driver for Access {
    fn subject(&self, _token: u64, _id: Id) -> Subject {
        Subject::UNKNOWN
    }
}

static LIST: ConditionalLock<Vec<Pending>> = ConditionalLock::new(Vec::new());
static FAILED: ConditionalLock<Option<(u32, String)>> = ConditionalLock::new(None);
static COUNT: AtomicUsize = AtomicUsize::new(0);
