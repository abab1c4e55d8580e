//! Generalised requests. MPI 5.0 §13.2.

use super::kinds::{Callback, Out, Raw, Request};
use crate::error::{Class, Fault, Result};
use crate::request::generalized::{self, Callbacks};
use core::ffi::c_void;

rows! {
    /// A request whose operation the user performs. MPI 5.0 §13.2.
    fn Grequest_start(
        query_fn: Callback, free_fn: Callback, cancel_fn: Callback, extra_state: Raw<*mut c_void>,
        request: Out<usize>,
    ) [] => {
        let callbacks = Callbacks {
            // SAFETY: a function of this type by the standard.
            query: unsafe { core::mem::transmute::<*const c_void, Query>(function(query_fn, "query_fn")?) },
            // SAFETY: as above.
            free: unsafe { core::mem::transmute::<*const c_void, Free>(function(free_fn, "free_fn")?) },
            // SAFETY: as above.
            cancel: unsafe { core::mem::transmute::<*const c_void, Cancel>(function(cancel_fn, "cancel_fn")?) },
            extra: extra_state,
        };
        // SAFETY: they may be called whenever MPI wants, by the standard.
        request.set(unsafe { generalized::start(callbacks)? }.into_handle());
        Ok(())
    }

    /// Says that the operation is done. MPI 5.0 §13.2.
    fn Grequest_complete(request: Request) [] => {
        generalized::finish(request)
    }
}

type Query = unsafe extern "C" fn(*mut c_void, *mut crate::status::Status) -> i32;
type Free = unsafe extern "C" fn(*mut c_void) -> i32;
type Cancel = unsafe extern "C" fn(*mut c_void, i32) -> i32;

/// Refuses null: all three are called.
fn function(at: *const c_void, argument: &'static str) -> Result<*const c_void> {
    match at.is_null() {
        false => Ok(at),
        true => Err(Fault::new(Class::Arg).argument(argument).because("a null pointer is not a function")),
    }
}
