//! Error handlers, error codes and their texts.
#![allow(unsafe_code)]

use crate::comm::Communicator;
use crate::error::Class;
use crate::handle::Table;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use core::ffi::c_int;
use opal_core::sync::Ordering;

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

static DYNAMIC: Table<Errhandler> = Table::new();

/// The error handler behind a handle.
pub fn get(handle: usize) -> Option<Errhandler> {
    match handle {
        FATAL => Some(Errhandler::Fatal),
        ABORT => Some(Errhandler::Abort),
        RETURN => Some(Errhandler::Return),
        _ => DYNAMIC.borrow(handle).copied(),
    }
}

/// A handle for the user's function.
pub fn create(function: CommFunction) -> Option<usize> {
    DYNAMIC.insert(Arc::new(Errhandler::User(function)))
}

/// Ends a handle; communicators that use the handler keep it.
pub fn free(handle: usize) -> bool {
    DYNAMIC.remove(handle).is_some()
}

/// The handler in force on a communicator.
pub fn of_comm(comm: &Communicator) -> Errhandler {
    get(comm.errhandler.load(Ordering::Relaxed)).unwrap_or(Errhandler::Fatal)
}

/// The error class of a code; codes of our own are classes.
pub fn class_of(code: i32) -> Option<i32> {
    (code == 0 || Class::ALL.iter().any(|class| *class as i32 == code)).then_some(code)
}

/// What `MPI_Error_string` says of a code.
pub fn error_string(code: i32) -> String {
    match Class::ALL.iter().find(|class| **class as i32 == code) {
        Some(class) => format!("{}:{}", class.symbol(), class.text()),
        None if code == 0 => String::from("MPI_SUCCESS: no error"),
        None => format!("unknown error code {code}"),
    }
}
