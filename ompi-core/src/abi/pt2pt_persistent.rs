//! Persistent sends and receives. MPI 5.0 §3.9.

use super::kinds::{
    Buffer, CommHandle, ConstBuffer, Count, OldType, Out, OutArray, Rank, RecvTag, Tag, array, data, rank_from, rank_to,
};
use super::tell::tell_if_heard;
use crate::error::{Class, Fault, Result};
use crate::framework::pml::Mode;
use crate::request::handles;
use crate::request::persistent::{Direction, Transfer, prepare};

rows! {
    /// Makes a persistent request for a standard send. MPI 5.0 §3.9.
    fn Send_init(
        buf: ConstBuffer, count: Count, datatype: OldType, dest: Rank, tag: Tag, comm: CommHandle,
        request: Out<usize>,
    ) [large] => {
        let (handle, comm) = comm;
        rank_to(dest, comm, "dest")?;
        let operation = Transfer { at: buf, count, datatype, peer: dest, tag, comm: handle, direction: Direction::Send(Mode::Standard) };
        check(&operation)?;
        // SAFETY: from every start to its completion the buffer is readable by the standard.
        request.set(unsafe { prepare(operation)? }.into_handle());
        Ok(())
    }

    /// Makes a persistent request for a buffered send. MPI 5.0 §3.9.
    fn Bsend_init(
        buf: ConstBuffer, count: Count, datatype: OldType, dest: Rank, tag: Tag, comm: CommHandle,
        request: Out<usize>,
    ) [large] => {
        let (handle, comm) = comm;
        rank_to(dest, comm, "dest")?;
        let operation = Transfer { at: buf, count, datatype, peer: dest, tag, comm: handle, direction: Direction::Buffered };
        check(&operation)?;
        // SAFETY: from every start to its completion the buffer is readable by the standard.
        request.set(unsafe { prepare(operation)? }.into_handle());
        Ok(())
    }

    /// Makes a persistent request for a synchronous send. MPI 5.0 §3.9.
    fn Ssend_init(
        buf: ConstBuffer, count: Count, datatype: OldType, dest: Rank, tag: Tag, comm: CommHandle,
        request: Out<usize>,
    ) [large] => {
        let (handle, comm) = comm;
        rank_to(dest, comm, "dest")?;
        let operation = Transfer { at: buf, count, datatype, peer: dest, tag, comm: handle, direction: Direction::Send(Mode::Synchronous) };
        check(&operation)?;
        // SAFETY: from every start to its completion the buffer is readable by the standard.
        request.set(unsafe { prepare(operation)? }.into_handle());
        Ok(())
    }

    /// Makes a persistent request for a ready send. MPI 5.0 §3.9.
    fn Rsend_init(
        buf: ConstBuffer, count: Count, datatype: OldType, dest: Rank, tag: Tag, comm: CommHandle,
        request: Out<usize>,
    ) [large] => {
        let (handle, comm) = comm;
        rank_to(dest, comm, "dest")?;
        let operation = Transfer { at: buf, count, datatype, peer: dest, tag, comm: handle, direction: Direction::Send(Mode::Ready) };
        check(&operation)?;
        // SAFETY: from every start to its completion the buffer is readable by the standard.
        request.set(unsafe { prepare(operation)? }.into_handle());
        Ok(())
    }

    /// Makes a persistent request for a receive. MPI 5.0 §3.9.
    fn Recv_init(
        buf: Buffer, count: Count, datatype: OldType, source: Rank, tag: RecvTag, comm: CommHandle,
        request: Out<usize>,
    ) [large] => {
        let (handle, comm) = comm;
        rank_from(source, comm, "source")?;
        let operation = Transfer { at: buf, count, datatype, peer: source, tag, comm: handle, direction: Direction::Receive };
        check(&operation)?;
        // SAFETY: from every start to its completion the buffer is writable by the standard.
        request.set(unsafe { prepare(operation)? }.into_handle());
        Ok(())
    }

    /// Starts a persistent request. MPI 5.0 §3.9.
    fn Start(request: Out<usize>) [] => {
        tell_if_heard();
        handles::start(request.get())
    }

    /// Starts several persistent requests. MPI 5.0 §3.9.
    fn Startall(count: Count, array_of_requests: OutArray<usize>) [] => {
        // SAFETY: the array has `count` elements by the standard.
        let requests = unsafe { array(array_of_requests, count, "array_of_requests")? };
        let among = |fault: Fault| fault.renamed("request", "array_of_requests");
        tell_if_heard();
        requests.iter().try_for_each(|request| handles::start(*request).map_err(among))
    }
}

/// What every start relies on: a committed datatype, and a buffer where there is data.
fn check(operation: &Transfer) -> Result<()> {
    if !operation.datatype.is_committed() {
        let why = "the datatype is not committed; call MPI_Type_commit first";
        return Err(Fault::new(Class::Type).argument("datatype").because(why));
    }
    data(operation.at, operation.count, &operation.datatype, "buf").map(drop)
}
