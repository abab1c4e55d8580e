//! The three variants of a collective function: blocking, nonblocking, persistent. They differ in when the operation runs.

use super::kinds::OutPtr;
use super::tool_event::run_heard;
use crate::comm::Communicator;
use crate::error::Result;
use crate::executor;
use crate::framework::coll::Call;
use crate::info::Info;
use crate::request::collective;
use crate::tool::event;
use alloc::sync::Arc;

/// A communicator with its handle.
type Handle = (usize, &'static Communicator);

/// The variant, and the communicator.
pub(super) enum Variant {
    /// Runs before the call returns.
    Blocking(&'static Communicator),
    /// Runs from now on; the request goes to this place.
    Nonblocking(Handle, OutPtr<usize>),
    /// Runs whenever the request is started; the request goes to this place.
    Persistent(Handle, Option<Arc<Info>>, OutPtr<usize>),
}

impl Variant {
    /// The communicator.
    #[inline(always)]
    pub fn comm(&self) -> &'static Communicator {
        match self {
            Variant::Blocking(comm) | Variant::Nonblocking((_, comm), _) | Variant::Persistent((_, comm), ..) => comm,
        }
    }

    /// Runs, begins or prepares an operation.
    ///
    /// # Safety
    /// Until this returns, or as long as the standard says of the request, the call's data is readable (sources) or
    /// writable (targets), and sources overlap no target.
    #[inline(always)]
    pub unsafe fn run(self, call: Call<'_>) -> Result<()> {
        match self {
            // SAFETY: the caller's promise.
            Variant::Blocking(comm) if event::is_heard() => unsafe { run_heard(comm, &call) },
            // SAFETY: the caller's promise.
            Variant::Blocking(comm) => unsafe { executor::run(comm, &call) },
            Variant::Nonblocking((handle, _), request) => {
                // SAFETY: the caller's promise.
                request.set(unsafe { collective::begin(handle, call)? }.into_handle());
                Ok(())
            }
            Variant::Persistent((handle, _), hints, request) => {
                // SAFETY: the caller's promise.
                request.set(unsafe { collective::prepare(handle, hints, call)? }.into_handle());
                Ok(())
            }
        }
    }
}
