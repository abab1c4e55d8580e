//! Generalised requests. MPI 5.0 §13.2.

use super::kinds::{Callback, Out, Raw, Request};
use core::ffi::c_void;

rows! {
    /// A request whose operation the user performs. MPI 5.0 §13.2.
    fn Grequest_start(
        query_fn: Callback, free_fn: Callback, cancel_fn: Callback, extra_state: Raw<*mut c_void>,
        request: Out<usize>,
    ) [] => unsupported

    /// Says that the operation is done. MPI 5.0 §13.2.
    fn Grequest_complete(request: Request) [] => unsupported
}
