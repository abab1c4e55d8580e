//! How long MPI is in use, and on which thread.

use crate::error::end;
use crate::{panics, raw};
use core::marker::PhantomData;
use ompi_core::buffer::Owner;
use ompi_core::{init, session};

/// A use of MPI; it ends with the last clone of its `Arc`.
#[derive(Debug)]
pub enum Life {
    /// The world model.
    World,
    /// A session, by its handle.
    Session(usize),
}

impl Drop for Life {
    fn drop(&mut self) {
        // The other ranks know nothing of a panic: waiting for them could take for ever.
        if panics::unwinding() {
            panics::end_job();
        }
        let (what, ended) = match *self {
            Life::World => ("MPI_Finalize", raw::replace_buffer(Owner::Process, 0).and_then(|()| init::finalize())),
            Life::Session(session) => ("MPI_Session_finalize", session::close(session)),
        };
        if let Err(fault) = ended {
            end(what, &fault.into());
        }
    }
}

/// Makes a type stay on its thread: calls from others are allowed only where MPI was started for them.
pub(crate) type OneThread = PhantomData<*const ()>;
