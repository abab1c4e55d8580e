//! Looking for messages, and receiving what was found. MPI 5.0 §3.8.

use super::kinds::{Buffer, Comm, Committed, Count, Out, Rank, RecvTag, StatusOut, data, rank_from};
use crate::error::{Class, Fault, Result};
use crate::framework::pml::{self, MatchContext, Matched};
use crate::request::handles;
use crate::status::Status;
use core::ffi::c_int;

rows! {
    /// Says whether a message could be received now. MPI 5.0 §3.8.1.
    fn Iprobe(source: Rank, tag: RecvTag, comm: Comm, flag: Out<c_int>, status: StatusOut) [] => {
        rank_from(source, comm, "source")?;
        let found = pml::selected().iprobe(source, tag, MatchContext { comm, collective: false })?;
        flag.set(c_int::from(found.is_some()));
        found.map_or(Ok(()), |found| found.deliver(status))
    }

    /// Waits until a message could be received. MPI 5.0 §3.8.1.
    fn Probe(source: Rank, tag: RecvTag, comm: Comm, status: StatusOut) [] => {
        rank_from(source, comm, "source")?;
        pml::selected().probe(source, tag, MatchContext { comm, collective: false })?.deliver(status)
    }

    /// Takes a message out of matching if there is one. MPI 5.0 §3.8.2.
    fn Improbe(
        source: Rank, tag: RecvTag, comm: Comm, flag: Out<c_int>, message: Out<usize>, status: StatusOut,
    ) [] => {
        rank_from(source, comm, "source")?;
        let found = pml::selected().improbe(source, tag, MatchContext { comm, collective: false })?;
        flag.set(c_int::from(found.is_some()));
        let Some(found) = found else { return Ok(()) };
        message.set(found.token as usize);
        found.status.deliver(status)
    }

    /// Waits for a message and takes it out of matching. MPI 5.0 §3.8.2.
    fn Mprobe(source: Rank, tag: RecvTag, comm: Comm, message: Out<usize>, status: StatusOut) [] => {
        rank_from(source, comm, "source")?;
        let found = pml::selected().mprobe(source, tag, MatchContext { comm, collective: false })?;
        message.set(found.token as usize);
        found.status.deliver(status)
    }

    /// Receives a message that a matching probe found. MPI 5.0 §3.8.3.
    fn Mrecv(buf: Buffer, count: Count, datatype: Committed, message: Out<usize>, status: StatusOut) [large] => {
        let data = data(buf, count, datatype, "buf")?;
        let matched = matched(message.get())?;
        // SAFETY: the buffer is writable by the standard until this call ends, which waits for the request.
        let mut request = unsafe { pml::selected().imrecv(&data, matched)? }.into_handle();
        message.set(MESSAGE_NULL);
        handles::wait(&mut request)?.deliver(status)
    }

    /// Begins to receive a message that a matching probe found. MPI 5.0 §3.8.3.
    fn Imrecv(buf: Buffer, count: Count, datatype: Committed, message: Out<usize>, request: Out<usize>) [large] => {
        let data = data(buf, count, datatype, "buf")?;
        let matched = matched(message.get())?;
        // SAFETY: the buffer is writable until the request completes, by the standard.
        request.set(unsafe { pml::selected().imrecv(&data, matched)? }.into_handle());
        message.set(MESSAGE_NULL);
        Ok(())
    }
}

/// MPI_MESSAGE_NULL.
const MESSAGE_NULL: usize = 0x128;

/// The message behind a handle; the PML knows whether it is in force.
fn matched(handle: usize) -> Result<Matched> {
    match handle {
        MESSAGE_NULL => Err(Fault::new(Class::Request).argument("message").because("it is MPI_MESSAGE_NULL")),
        _ => Ok(Matched { status: Status::EMPTY, token: handle as u64 }),
    }
}
