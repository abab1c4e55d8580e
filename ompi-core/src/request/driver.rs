//! The owner of an operation, as the request sees it.

use crate::error::{Class, Result};
use crate::status::Status;
use opal_core::wait::Subject;

/// The name by which the owner of an operation completes its request. The number is the C handle; the default is that
/// of no request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Id(pub u32);

/// What the owner of an operation does for its requests. `token` is what it gave to [`create`](super::create).
pub trait Driver: Sync {
    /// MPI_Cancel. May [`complete`](super::complete) the request with a cancelled status, or do nothing.
    fn cancel(&self, _token: u64, _id: Id) {}

    /// What a thread that waits for the operation waits for. No lock of the library is held.
    fn subject(&self, _token: u64, _id: Id) -> Subject {
        Subject::UNKNOWN
    }

    /// The number of the communicator, or of that of the window or the file, whose error handler hears of what is wrong with a call
    /// that names this request alone (MPI 5.0 §9.3); `None`: that of MPI_COMM_SELF does.
    fn context(&self, _token: u64) -> Option<u32> {
        None
    }

    /// [`Kind::Polled`](super::Kind::Polled) and [`Kind::Persistent`](super::Kind::Persistent): tries to move the operation on.
    fn poll(&self, _token: u64) {}

    /// [`Kind::Persistent`](super::Kind::Persistent): starts the operation; the request is active already.
    fn start(&self, _token: u64, _id: Id) -> Result<()> {
        Err(Class::UnsupportedOperation.into())
    }

    /// Not for sends and receives: the last word on the status before the user sees it.
    fn query(&self, _token: u64, _status: &mut Status) {}

    /// Not for sends and receives: the request is gone; gives back what the token stands for.
    fn release(&self, _token: u64) {}

    /// As `release`, by a driver whose release can fail: an error code for the call that completes or frees the request.
    fn end(&self, token: u64) -> i32 {
        self.release(token);
        0
    }
}
