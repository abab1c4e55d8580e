//! When a collective operation runs: what the blocking, the nonblocking and the persistent function differ in.

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

/// When, and on which communicator.
pub(super) enum When {
    /// Before the call returns.
    Now(&'static Communicator),
    /// From now on; the request goes to this place.
    Begin(Handle, OutPtr<usize>),
    /// Whenever the request is started; it goes to this place.
    Prepare(Handle, Option<Arc<Info>>, OutPtr<usize>),
}

impl When {
    /// The communicator.
    #[inline(always)]
    pub fn comm(&self) -> &'static Communicator {
        match self {
            When::Now(comm) | When::Begin((_, comm), _) | When::Prepare((_, comm), ..) => comm,
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
            When::Now(comm) if event::is_heard() => unsafe { run_heard(comm, call) },
            // SAFETY: the caller's promise.
            When::Now(comm) => unsafe { executor::run(comm, call) },
            When::Begin((handle, _), request) => {
                // SAFETY: the caller's promise.
                request.set(unsafe { collective::begin(handle, call)? }.into_handle());
                Ok(())
            }
            When::Prepare((handle, _), hints, request) => {
                // SAFETY: the caller's promise.
                request.set(unsafe { collective::prepare(handle, hints, call)? }.into_handle());
                Ok(())
            }
        }
    }
}
