//! Error handlers.
//!
//! A handler of the user's lives as long as a handle or a communicator holds it: MPI_Errhandler_free ends the handle,
//! not the handler (MPI 5.0 §9.3.5).
#![allow(unsafe_code)]

use crate::comm::Communicator;
use crate::error::{Class, Fault, Result};
use crate::handle::Table;
use alloc::sync::Arc;
use core::ffi::c_int;
use opal_core::sync::{AtomicUsize, Ordering};

mod code;

pub use code::{add_class, add_code, class_of, error_string, last_used_code, remove_class, remove_code, set_text};

/// MPI_ERRHANDLER_NULL.
pub const NULL: usize = 0x140;
/// MPI_ERRORS_ARE_FATAL.
pub const FATAL: usize = 0x141;
/// MPI_ERRORS_ABORT.
pub const ABORT: usize = 0x142;
/// MPI_ERRORS_RETURN.
pub const RETURN: usize = 0x143;

/// MPI_Comm_errhandler_function; its variable arguments are implementation-specific and we pass none.
pub type CommFunction = unsafe extern "C" fn(*mut usize, *mut c_int, ...);

/// What to do with an error.
#[derive(Clone, Copy, Debug)]
pub enum Errhandler {
    /// End the job.
    Fatal,
    /// End the processes of the communicator; here as `Fatal`.
    Abort,
    /// Give the code to the caller.
    Return,
    /// Ask the user's function.
    User(CommFunction),
}

struct Made {
    function: CommFunction,
    /// Handles that the user was given and has not freed.
    handles: AtomicUsize,
    /// Those, and the communicators on which it is in force.
    holders: AtomicUsize,
}

static DYNAMIC: Table<Made> = Table::new();

/// The error handler behind a handle that the user or a communicator holds.
pub fn get(handle: usize) -> Option<Errhandler> {
    match handle {
        FATAL => Some(Errhandler::Fatal),
        ABORT => Some(Errhandler::Abort),
        RETURN => Some(Errhandler::Return),
        _ => DYNAMIC.borrow(handle).map(|made| Errhandler::User(made.function)),
    }
}

/// A handle for the user's function.
pub fn create(function: CommFunction) -> Option<usize> {
    DYNAMIC.insert(Arc::new(Made { function, handles: AtomicUsize::new(1), holders: AtomicUsize::new(1) }))
}

/// MPI_Errhandler_free. The predefined handlers stay.
pub fn free(handle: usize) -> Result<()> {
    check(handle)?;
    if let Some(made) = DYNAMIC.borrow(handle) {
        made.handles.fetch_sub(1, Ordering::Relaxed);
        release(handle);
    }
    Ok(())
}

/// Puts a handler in force on a communicator.
pub fn set(comm: &Communicator, handle: usize) -> Result<()> {
    check(handle)?;
    retain(handle);
    release(comm.errhandler.swap(handle, Ordering::Relaxed));
    Ok(())
}

/// MPI_Comm_get_errhandler: a handle that the user must free.
pub fn share(comm: &Communicator) -> usize {
    let handle = comm.errhandler.load(Ordering::Relaxed);
    if let Some(made) = DYNAMIC.borrow(handle) {
        made.handles.fetch_add(1, Ordering::Relaxed);
        retain(handle);
    }
    handle
}

/// One holder more.
pub fn retain(handle: usize) {
    if let Some(made) = DYNAMIC.borrow(handle) {
        made.holders.fetch_add(1, Ordering::Relaxed);
    }
}

/// One holder less; the last one ends the handler.
pub fn release(handle: usize) {
    // AcqRel: whoever ends it sees what the other holders did.
    if DYNAMIC.borrow(handle).is_some_and(|made| made.holders.fetch_sub(1, Ordering::AcqRel) == 1) {
        DYNAMIC.remove(handle);
    }
}

/// The handler in force on a communicator.
pub fn of_comm(comm: &Communicator) -> Errhandler {
    get(comm.errhandler.load(Ordering::Relaxed)).unwrap_or(Errhandler::Fatal)
}

/// Refuses what the user holds no handle of.
fn check(handle: usize) -> Result<()> {
    let held = match handle {
        FATAL | ABORT | RETURN => true,
        _ => DYNAMIC.borrow(handle).is_some_and(|made| made.handles.load(Ordering::Relaxed) > 0),
    };
    match held {
        true => Ok(()),
        false => {
            let why = if handle == NULL { "it is the null error handler" } else { "it is no error handler in force" };
            Err(Fault::new(Class::Errhandler).argument("errhandler").because(why))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handler_in_force_outlives_its_handle() {
        // SAFETY: a function pointer that is never called.
        let function = unsafe { core::mem::transmute::<*const (), CommFunction>(never as *const ()) };
        let handle = create(function).unwrap();
        retain(handle);
        free(handle).unwrap();
        assert!(matches!(get(handle), Some(Errhandler::User(_))), "the communicator still needs it");
        assert_eq!(free(handle).unwrap_err().get(), Class::Errhandler as i32);
        release(handle);
        assert!(get(handle).is_none());
    }

    fn never() {}
}
