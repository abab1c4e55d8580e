//! Buffers for buffered sends. MPI 5.0 §3.6.

use super::kinds::{Buffer, Comm, Count, CountPlace, Out, OutCount, OutPtr, Raw, Session};
use crate::buffer::{self, Owner};
use crate::error::Result;
use core::ffi::c_void;

rows! {
    /// Gives a communicator memory for buffered sends. MPI 5.0 §3.6.1.
    fn Comm_attach_buffer(comm: Comm, buffer: Buffer, size: Count) [large] => {
        // SAFETY: the memory is the library's until it is detached, by the standard.
        unsafe { buffer::attach(Owner::Comm(comm.context), buffer as usize, size) }
    }

    /// Gives a session memory for buffered sends. MPI 5.0 §3.6.1.
    fn Session_attach_buffer(session: Session, buffer: Buffer, size: Count) [large] => {
        // SAFETY: the memory is the library's until it is detached, by the standard.
        unsafe { buffer::attach(Owner::Session(session.0), buffer as usize, size) }
    }

    /// Gives this process memory for buffered sends. MPI 5.0 §3.6.1.
    fn Buffer_attach(buffer: Buffer, size: Count) [large] => {
        // SAFETY: the memory is the library's until it is detached, by the standard.
        unsafe { buffer::attach(Owner::Process, buffer as usize, size) }
    }

    /// Waits for a communicator's buffered sends and takes its memory back. MPI 5.0 §3.6.2.
    fn Comm_detach_buffer(comm: Comm, buffer_addr: Raw<*mut c_void>, size: OutCount) [large] => {
        detach(Owner::Comm(comm.context), buffer_addr, size)
    }

    /// Waits for a session's buffered sends and takes its memory back. MPI 5.0 §3.6.2.
    fn Session_detach_buffer(session: Session, buffer_addr: Raw<*mut c_void>, size: OutCount) [large] => {
        detach(Owner::Session(session.0), buffer_addr, size)
    }

    /// Waits for this process's buffered sends and takes the memory back. MPI 5.0 §3.6.2.
    fn Buffer_detach(buffer_addr: Raw<*mut c_void>, size: OutCount) [large] => {
        detach(Owner::Process, buffer_addr, size)
    }

    /// Waits until a communicator's buffered messages have left. MPI 5.0 §3.6.2.
    fn Comm_flush_buffer(comm: Comm) [] => {
        buffer::flush(Owner::Comm(comm.context))
    }

    /// Waits until a session's buffered messages have left. MPI 5.0 §3.6.2.
    fn Session_flush_buffer(session: Session) [] => {
        buffer::flush(Owner::Session(session.0))
    }

    /// Waits until this process's buffered messages have left. MPI 5.0 §3.6.2.
    fn Buffer_flush() [] => {
        buffer::flush(Owner::Process)
    }

    /// Begins to flush a communicator's buffer. MPI 5.0 §3.6.2.
    fn Comm_iflush_buffer(comm: Comm, request: Out<usize>) [] => {
        request.set(buffer::flush_later(Owner::Comm(comm.context))?.into_handle());
        Ok(())
    }

    /// Begins to flush a session's buffer. MPI 5.0 §3.6.2.
    fn Session_iflush_buffer(session: Session, request: Out<usize>) [] => {
        request.set(buffer::flush_later(Owner::Session(session.0))?.into_handle());
        Ok(())
    }

    /// Begins to flush this process's buffer. MPI 5.0 §3.6.2.
    fn Buffer_iflush(request: Out<usize>) [] => {
        request.set(buffer::flush_later(Owner::Process)?.into_handle());
        Ok(())
    }
}

/// Gives the user the memory back; `at` is the place of a pointer.
fn detach(owner: Owner, at: *mut c_void, size: CountPlace) -> Result<()> {
    let place = OutPtr::new(at.cast::<usize>()).map_err(|fault| fault.argument("buffer_addr"))?;
    let (address, bytes) = buffer::detach(owner)?;
    place.set(address);
    size.set(bytes as i64);
    Ok(())
}
