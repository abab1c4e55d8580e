//! The handle of a window.

use crate::error::{Result, raise};
use ompi_core::abi::Scope;
use ompi_core::error::Fault;
use ompi_core::win;

/// Of a window that is in force until its [`Window`](super::Window) is dropped.
#[derive(Debug)]
pub struct Handle(usize);

impl Handle {
    pub(super) fn of(handle: usize) -> Handle {
        Handle(handle)
    }

    /// The object.
    pub(super) fn object(&self) -> &win::Window {
        win::borrow(self.0).expect("a window is in force until it is dropped")
    }

    /// The result for the caller; a failure runs the error handler first.
    pub(super) fn checked<R>(&self, function: &'static str, result: Result<R, Fault>) -> Result<R> {
        result.map_err(|fault| raise(Scope::Win(self.0), function, fault))
    }

    /// Frees it; all processes call it.
    pub(super) fn free(&self) -> Result<(), Fault> {
        win::free(self.0)
    }
}
