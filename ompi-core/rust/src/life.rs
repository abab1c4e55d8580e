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
        match *self {
            // Nobody knows here whether `main` is about to return an error.
            Life::World if raw::at_exit(finalize) => {}
            Life::World => finalize(0),
            Life::Session(session) => {
                session::close(session).unwrap_or_else(|fault| end("MPI_Session_finalize", &fault.into()));
            }
        }
    }
}

/// Ends the world model if the process ends well. Else it ends as it is, which ends the job: the other ranks may wait for messages
/// that this one has not sent.
fn finalize(status: i32) {
    if status == 0 {
        let ended = raw::replace_buffer(Owner::Process, 0).and_then(|()| init::finalize());
        ended.unwrap_or_else(|fault| end("MPI_Finalize", &fault.into()));
    }
}

/// Makes a type stay on its thread: calls from others are allowed only where MPI was started for them.
pub(crate) type OneThread = PhantomData<*const ()>;
