//! Requests: operations under way. Slots in chunks that never move; a handle is index and generation.
//!
//! This file is replaced by the message path; the signatures stand.

use crate::error::Result;
use crate::status::Status;

/// The right to complete one operation. Its number is the C handle.
#[derive(Debug, PartialEq, Eq)]
pub struct Request(pub u32);

impl Request {
    /// Waits for it and frees it. `MPI_ERR_*` of the operation as `Err`.
    pub fn wait(self) -> Result<Status> {
        Err(crate::error::Class::UnsupportedOperation.into())
    }

    /// Completes and frees it if it is done; gives it back otherwise. Makes progress once.
    pub fn test(self) -> Result<core::result::Result<Status, Request>> {
        Err(crate::error::Class::UnsupportedOperation.into())
    }
}

/// Waits for all; the first failure is returned after all have completed.
pub fn wait_all(requests: impl IntoIterator<Item = Request>) -> Result<()> {
    requests.into_iter().try_for_each(|request| request.wait().map(drop))
}
