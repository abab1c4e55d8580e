//! Requests whose operations the user performs: MPI 5.0 §13.2.
//!
//! **Invariant:** nothing is locked while a callback runs, and each runs as often as the standard says: `query_fn` before
//! a status is seen, `free_fn` once, `cancel_fn` for each MPI_Cancel.
#![allow(unsafe_code)]

use super::{Driver, Id, Kind, Request, complete, create};
use crate::error::{Class, Fault, Result};
use crate::handle::HandleTable;
use crate::status::Status;
use alloc::sync::Arc;
use core::ffi::{c_int, c_void};
use opal_core::sync::{AtomicBool, AtomicU32, Ordering};

/// MPI_Grequest_query_function, MPI_Grequest_free_function and MPI_Grequest_cancel_function with their extra state.
#[derive(Clone, Copy)]
pub struct Callbacks {
    /// Fills the status.
    pub query: unsafe extern "C" fn(*mut c_void, *mut Status) -> c_int,
    /// Gives the operation's memory back.
    pub free: unsafe extern "C" fn(*mut c_void) -> c_int,
    /// Asked to cancel; told whether the operation is complete.
    pub cancel: unsafe extern "C" fn(*mut c_void, c_int) -> c_int,
    /// The first argument of all three.
    pub extra: *mut c_void,
}

/// A request that [`finish`] completes.
///
/// # Safety
/// The callbacks are functions of these types that may be called with `extra` from any thread, until `free` was called.
pub unsafe fn start(callbacks: Callbacks) -> Result<Request> {
    let operation = Operation { callbacks, request: AtomicU32::new(0), complete: AtomicBool::new(false) };
    let operation = Arc::new(operation);
    let token = OPERATIONS.insert(operation.clone()).ok_or(Class::NoMem)?;
    let request = create(Kind::Generic, &Generalized, token as u64).inspect_err(|_| drop(OPERATIONS.remove(token)))?;
    operation.request.store(request.id().0, Ordering::Relaxed);
    Ok(request)
}

/// MPI_Grequest_complete.
pub fn finish(handle: usize) -> Result<()> {
    let wrong = |why| Fault::new(Class::Request).argument("request").because(why);
    let operation = find(handle).ok_or_else(|| wrong("it is not a generalized request"))?;
    if operation.complete.swap(true, Ordering::Relaxed) {
        return Err(wrong("it is complete already"));
    }
    complete(Id(handle as u32), Status::EMPTY);
    Ok(())
}

/// MPI_Cancel of a generalized request: the callback is told whether it is too late (MPI 5.0 §13.2). `None` for others.
pub fn cancel(handle: usize) -> Option<Result<()>> {
    let operation = find(handle)?;
    let Callbacks { cancel, extra, .. } = operation.callbacks;
    let complete = c_int::from(operation.complete.load(Ordering::Relaxed));
    // SAFETY: the promise made to `start`.
    let code = unsafe { cancel(extra, complete) };
    Some(if code == 0 { Ok(()) } else { Err(Fault::code(code).because("the cancel function returned this code")) })
}

fn find(handle: usize) -> Option<Arc<Operation>> {
    let operation = super::token(handle).and_then(|token| OPERATIONS.get(token as usize))?;
    (operation.request.load(Ordering::Relaxed) as usize == handle).then_some(operation)
}

struct Operation {
    callbacks: Callbacks,
    request: AtomicU32,
    complete: AtomicBool,
}

// SAFETY: the extra state is the user's, who promises in `start` that the callbacks may be called from any thread.
unsafe impl Send for Operation {}
// SAFETY: as above; nothing else in it changes but atomics.
unsafe impl Sync for Operation {}

static OPERATIONS: HandleTable<Operation> = HandleTable::new();

struct Generalized;

impl Driver for Generalized {
    fn query(&self, token: u64, status: &mut Status) {
        let Some(Callbacks { query, extra, .. }) = callbacks(token) else { return };
        let mut seen = *status;
        // SAFETY: the promise made to `start`; the status is this function's own.
        let code = unsafe { query(extra, &mut seen) };
        // MPI 5.0 §13.2: the code is what the completing call returns; MPI_ERROR in the status is not the user's to set.
        seen.error = code;
        *status = seen;
    }

    fn end(&self, token: u64) -> i32 {
        let Some(operation) = OPERATIONS.remove(token as usize) else { return 0 };
        let Callbacks { free, extra, .. } = operation.callbacks;
        // SAFETY: the promise made to `start`; once, because the operation is out of the table.
        unsafe { free(extra) }
    }
}

fn callbacks(token: u64) -> Option<Callbacks> {
    OPERATIONS.get(token as usize).map(|operation| operation.callbacks)
}
