//! Error handlers.
//!
//! A handler of the user's lives as long as a handle or an object holds it: MPI_Errhandler_free ends the handle,
//! not the handler (MPI 5.0 §9.3.5).
#![allow(unsafe_code)]

use crate::error::{Class, Fault, Result};
use crate::handle::HandleTable;
use alloc::sync::Arc;
use core::ffi::c_int;
use core::mem::offset_of;
use opal_core::inspect::Fact;
use opal_core::sync::{AtomicUsize, Ordering};

mod code;

pub use code::{
    add_class, add_code, class_of, error_string, explained_string, keep_reason, last_used_code, remove_class,
    remove_code, set_text,
};

/// MPI_ERRHANDLER_NULL.
pub const NULL: usize = 0x140;
/// MPI_ERRORS_ARE_FATAL.
pub const FATAL: usize = 0x141;
/// MPI_ERRORS_ABORT.
pub const ABORT: usize = 0x142;
/// MPI_ERRORS_RETURN.
pub const RETURN: usize = 0x143;

/// MPI_Comm_errhandler_function and its like; the variable arguments are implementation-specific and we pass none.
pub type HandlerFn = unsafe extern "C" fn(*mut usize, *mut c_int, ...);

/// For which objects a handler of the user's is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum HandlerKind {
    /// Communicators.
    Comm,
    /// Windows.
    Win,
    /// Files.
    File,
    /// Sessions.
    Session,
}

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
    User(HandlerFn),
}

/// MPI_FILE_NULL.
pub const FILE_NULL: usize = 0x118;

/// The handler that files get and that stands at MPI_FILE_NULL (MPI 5.0 §14.7).
pub static DEFAULT_FILE: AtomicUsize = AtomicUsize::new(RETURN);

struct Made {
    kind: HandlerKind,
    function: HandlerFn,
    /// Handles that the user was given and has not freed.
    handles: AtomicUsize,
    /// Those, and the objects on which it is in force.
    holders: AtomicUsize,
}

static DYNAMIC: HandleTable<Made> = HandleTable::new();

/// What a debugger needs to know of error handlers. The kind is a byte: of communicators, windows, files, sessions.
pub(crate) static FACTS: [Fact; 4] = [
    Fact::address("errhandler.table", &raw const DYNAMIC),
    Fact::number("errhandler.kind", offset_of!(Made, kind)),
    Fact::number("errhandler.function", offset_of!(Made, function)),
    Fact::number("errhandler.handles", offset_of!(Made, handles)),
];

/// The error handler behind a handle that the user or an object holds.
pub fn get(handle: usize) -> Option<Errhandler> {
    match handle {
        FATAL => Some(Errhandler::Fatal),
        ABORT => Some(Errhandler::Abort),
        RETURN => Some(Errhandler::Return),
        _ => DYNAMIC.borrow(handle).map(|made| Errhandler::User(made.function)),
    }
}

/// A handle for the user's function.
pub fn create(kind: HandlerKind, function: HandlerFn) -> Option<usize> {
    DYNAMIC.insert(Arc::new(Made { kind, function, handles: AtomicUsize::new(1), holders: AtomicUsize::new(1) }))
}

/// MPI_Errhandler_free. The predefined handlers stay.
pub fn free(handle: usize) -> Result<()> {
    held(handle)?;
    if let Some(made) = DYNAMIC.borrow(handle) {
        made.handles.fetch_sub(1, Ordering::Relaxed);
        release(handle);
    }
    Ok(())
}

/// Puts a handler in force on an object, `place` being where the object keeps it.
pub fn set(place: &AtomicUsize, kind: HandlerKind, handle: usize) -> Result<()> {
    check(handle, kind)?;
    retain(handle);
    release(place.swap(handle, Ordering::Relaxed));
    Ok(())
}

/// MPI_Comm_get_errhandler and its like: a handle that the user must free.
pub fn share(place: &AtomicUsize) -> usize {
    let handle = place.load(Ordering::Relaxed);
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
    // AcqRel: the holder that ends it sees what the others did.
    if DYNAMIC.borrow(handle).is_some_and(|made| made.holders.fetch_sub(1, Ordering::AcqRel) == 1) {
        DYNAMIC.remove(handle);
    }
}

/// The handler in force where `place` is an object's.
pub fn of(place: &AtomicUsize) -> Errhandler {
    get(place.load(Ordering::Relaxed)).unwrap_or(Errhandler::Fatal)
}

/// Refuses what the user holds no handle of, and what was made for objects of another kind.
pub fn check(handle: usize, kind: HandlerKind) -> Result<()> {
    held(handle)?;
    match DYNAMIC.borrow(handle) {
        Some(made) if made.kind != kind => {
            let why = "it was made for objects of another kind";
            Err(Fault::new(Class::Errhandler).argument("errhandler").because(why))
        }
        _ => Ok(()),
    }
}

fn held(handle: usize) -> Result<()> {
    let held = match handle {
        FATAL | ABORT | RETURN => true,
        _ => DYNAMIC.borrow(handle).is_some_and(|made| made.handles.load(Ordering::Relaxed) > 0),
    };
    match held {
        true => Ok(()),
        false => {
            let why = if handle == NULL {
                "it is the null error handler"
            } else {
                "it is not a valid error handler; it was freed or never created"
            };
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
        let function = unsafe { core::mem::transmute::<*const (), HandlerFn>(never as *const ()) };
        let handle = create(HandlerKind::Comm, function).unwrap();
        retain(handle);
        free(handle).unwrap();
        assert!(matches!(get(handle), Some(Errhandler::User(_))), "the communicator still needs it");
        assert_eq!(free(handle).unwrap_err().get(), Class::Errhandler as i32);
        release(handle);
        assert!(get(handle).is_none());
    }

    fn never() {}
}
