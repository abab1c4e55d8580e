//! A communicator and what keeps it.

use crate::error::{self, Error, Result, end};
use crate::life::Life;
use crate::raw;
use alloc::sync::Arc;
use core::fmt;
use core::ptr::NonNull;
use ompi_core::abi::Scope;
use ompi_core::comm::{self, Communicator};
use ompi_core::error::Fault;

/// A communicator of ours: in force as long as this lives, and MPI with it. Of no use to programs.
pub struct Owned {
    at: NonNull<Communicator>,
    handle: usize,
    // None for a predefined one.
    kept: Option<Arc<Communicator>>,
    life: Arc<Life>,
}

impl Owned {
    /// MPI_COMM_WORLD or MPI_COMM_SELF, whose objects stay for ever.
    pub(crate) fn predefined(handle: usize, life: Arc<Life>) -> Owned {
        let comm = comm::borrow(handle).expect("the world model is in use");
        Owned { at: NonNull::from(comm), handle, kept: None, life }
    }

    /// One that was just made.
    pub(crate) fn made(handle: usize, life: Arc<Life>) -> Owned {
        let kept = comm::get(handle).expect("the handle of a communicator that was just made");
        Owned { at: NonNull::from(&*kept), handle, kept: Some(kept), life }
    }

    /// The object.
    #[inline(always)]
    pub(crate) fn comm(&self) -> &Communicator {
        raw::kept(&self.at, &self.kept)
    }

    pub(crate) fn handle(&self) -> usize {
        self.handle
    }

    pub(crate) fn life(&self) -> &Arc<Life> {
        &self.life
    }

    /// Ends it after its communication is complete. It ends in any case.
    pub(crate) fn disconnect(mut self) -> Result<()> {
        let handle = self.handle;
        // Processes are left when the last owner of the object is gone.
        self.kept = None;
        comm::disconnect(handle).map_err(|fault| error::raise(Scope::Comm(handle), "disconnect", fault))
    }

    /// The result for the caller; a failure runs the error handler first.
    #[inline(always)]
    pub(crate) fn checked<T>(&self, function: &'static str, result: Result<T, Fault>) -> Result<T> {
        match result {
            Ok(value) => Ok(value),
            Err(fault) => Err(self.raise(function, fault)),
        }
    }

    pub(crate) fn raise(&self, function: &'static str, fault: Fault) -> Error {
        error::raise(Scope::Comm(self.handle), function, fault)
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        if self.kept.is_some()
            && let Err(fault) = comm::free(self.handle)
        {
            end("freeing a communicator", &fault.into());
        }
    }
}

impl fmt::Debug for Owned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let comm = self.comm();
        f.debug_struct("Communicator")
            .field("name", &comm.name())
            .field("rank", &comm.rank)
            .field("size", &comm.size())
            .finish()
    }
}
