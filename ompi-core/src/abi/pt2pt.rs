//! Blocking and nonblocking sends and receives. MPI 5.0 §3.2, §3.4, §3.7 and §3.10.

use super::kinds::{
    Buffer, Comm, Committed, ConstBuffer, Count, Out, Rank, RecvTag, StatusOut, Tag, data, rank_from, rank_to,
};
use super::tell::tell_if_heard;
use crate::buffer;
use crate::comm::Communicator;
use crate::data::Data;
use crate::datatype;
use crate::error::{Class, Result};
use crate::framework::pml::{self, MatchContext, Mode};
use crate::request::{self, Request, exchange};
use alloc::vec::Vec;

rows! {
    /// Sends a message and returns when the buffer may be used again. MPI 5.0 §3.2.1.
    fn Send(buf: ConstBuffer, count: Count, datatype: Committed, dest: Rank, tag: Tag, comm: Comm) [large, fast] => {
        let data = data(buf, count, datatype, "buf")?;
        rank_to(dest, comm, "dest")?;
        // SAFETY: the buffer is readable by the standard.
        unsafe { pml::selected().send(&data, dest, tag, Mode::Standard, user(comm)) }
    }

    /// Sends through the buffer that the user attached. MPI 5.0 §3.4.
    fn Bsend(buf: ConstBuffer, count: Count, datatype: Committed, dest: Rank, tag: Tag, comm: Comm) [large] => {
        tell_if_heard();
        let data = data(buf, count, datatype, "buf")?;
        rank_to(dest, comm, "dest")?;
        // SAFETY: the buffer is readable by the standard.
        unsafe { buffer::send(&data, dest, tag, comm) }
    }

    /// Sends and returns only after the receive has begun. MPI 5.0 §3.4.
    fn Ssend(buf: ConstBuffer, count: Count, datatype: Committed, dest: Rank, tag: Tag, comm: Comm) [large] => {
        tell_if_heard();
        let data = data(buf, count, datatype, "buf")?;
        rank_to(dest, comm, "dest")?;
        // SAFETY: the buffer is readable by the standard.
        unsafe { pml::selected().send(&data, dest, tag, Mode::Synchronous, user(comm)) }
    }

    /// Sends to a receive that the user knows to be posted. MPI 5.0 §3.4.
    fn Rsend(buf: ConstBuffer, count: Count, datatype: Committed, dest: Rank, tag: Tag, comm: Comm) [large] => {
        tell_if_heard();
        let data = data(buf, count, datatype, "buf")?;
        rank_to(dest, comm, "dest")?;
        // SAFETY: the buffer is readable by the standard.
        unsafe { pml::selected().send(&data, dest, tag, Mode::Ready, user(comm)) }
    }

    /// Receives a message. MPI 5.0 §3.2.4.
    fn Recv(
        buf: Buffer, count: Count, datatype: Committed, source: Rank, tag: RecvTag, comm: Comm, status: StatusOut,
    ) [large, fast] => {
        let data = data(buf, count, datatype, "buf")?;
        rank_from(source, comm, "source")?;
        // SAFETY: the buffer is writable by the standard.
        unsafe { pml::selected().recv(&data, source, tag, user(comm), status) }
    }

    /// Begins a standard send. MPI 5.0 §3.7.2.
    fn Isend(
        buf: ConstBuffer, count: Count, datatype: Committed, dest: Rank, tag: Tag, comm: Comm, request: Out<usize>,
    ) [large, fast] => {
        let data = data(buf, count, datatype, "buf")?;
        rank_to(dest, comm, "dest")?;
        // SAFETY: the buffer is readable until the request completes, by the standard.
        request.set(unsafe { pml::selected().isend(&data, dest, tag, Mode::Standard, user(comm))? }.into_handle());
        Ok(())
    }

    /// Begins a buffered send, which is done as soon as the message is copied. MPI 5.0 §3.7.2.
    fn Ibsend(
        buf: ConstBuffer, count: Count, datatype: Committed, dest: Rank, tag: Tag, comm: Comm, request: Out<usize>,
    ) [large] => {
        tell_if_heard();
        let data = data(buf, count, datatype, "buf")?;
        rank_to(dest, comm, "dest")?;
        // SAFETY: the buffer is readable by the standard.
        unsafe { buffer::send(&data, dest, tag, comm)? };
        request.set(request::done().into_handle());
        Ok(())
    }

    /// Begins a synchronous send. MPI 5.0 §3.7.2.
    fn Issend(
        buf: ConstBuffer, count: Count, datatype: Committed, dest: Rank, tag: Tag, comm: Comm, request: Out<usize>,
    ) [large] => {
        tell_if_heard();
        let data = data(buf, count, datatype, "buf")?;
        rank_to(dest, comm, "dest")?;
        // SAFETY: the buffer is readable until the request completes, by the standard.
        request.set(unsafe { pml::selected().isend(&data, dest, tag, Mode::Synchronous, user(comm))? }.into_handle());
        Ok(())
    }

    /// Begins a ready send. MPI 5.0 §3.7.2.
    fn Irsend(
        buf: ConstBuffer, count: Count, datatype: Committed, dest: Rank, tag: Tag, comm: Comm, request: Out<usize>,
    ) [large] => {
        tell_if_heard();
        let data = data(buf, count, datatype, "buf")?;
        rank_to(dest, comm, "dest")?;
        // SAFETY: the buffer is readable until the request completes, by the standard.
        request.set(unsafe { pml::selected().isend(&data, dest, tag, Mode::Ready, user(comm))? }.into_handle());
        Ok(())
    }

    /// Begins a receive. MPI 5.0 §3.7.2.
    fn Irecv(
        buf: Buffer, count: Count, datatype: Committed, source: Rank, tag: RecvTag, comm: Comm, request: Out<usize>,
    ) [large, fast] => {
        let data = data(buf, count, datatype, "buf")?;
        rank_from(source, comm, "source")?;
        // SAFETY: the buffer is writable until the request completes, by the standard.
        request.set(unsafe { pml::selected().irecv(&data, source, tag, user(comm))? }.into_handle());
        Ok(())
    }

    /// Sends one message and receives another, without deadlock. MPI 5.0 §3.10.
    fn Sendrecv(
        sendbuf: ConstBuffer, sendcount: Count, sendtype: Committed, dest: Rank, sendtag: Tag, recvbuf: Buffer,
        recvcount: Count, recvtype: Committed, source: Rank, recvtag: RecvTag, comm: Comm, status: StatusOut,
    ) [large] => {
        tell_if_heard();
        let out = data(sendbuf, sendcount, sendtype, "sendbuf")?;
        let inward = data(recvbuf, recvcount, recvtype, "recvbuf")?;
        rank_to(dest, comm, "dest")?;
        rank_from(source, comm, "source")?;
        // SAFETY: the receive buffer is writable by the standard until this call ends, which waits for the request.
        let request = unsafe { pml::selected().irecv(&inward, source, recvtag, user(comm))? };
        // SAFETY: the send buffer is readable by the standard.
        let sent = unsafe { pml::selected().send(&out, dest, sendtag, Mode::Standard, user(comm)) };
        exchange::finish(request, sent)?.deliver(status)
    }

    /// Sends what is in the buffer and receives into it. MPI 5.0 §3.10.
    fn Sendrecv_replace(
        buf: Buffer, count: Count, datatype: Committed, dest: Rank, sendtag: Tag, source: Rank, recvtag: RecvTag,
        comm: Comm, status: StatusOut,
    ) [large] => {
        tell_if_heard();
        let whole = data(buf, count, datatype, "buf")?;
        rank_to(dest, comm, "dest")?;
        rank_from(source, comm, "source")?;
        // SAFETY: the buffer is readable by the standard.
        let mut copy = unsafe { whole.packed()? };
        let out = Data { at: copy.as_mut_ptr(), count: copy.len(), datatype: datatype::byte() };
        // SAFETY: the buffer is writable by the standard until this call ends, which waits for the request.
        let request = unsafe { pml::selected().irecv(&whole, source, recvtag, user(comm))? };
        // SAFETY: the copy lives until the send is over.
        let sent = unsafe { pml::selected().send(&out, dest, sendtag, Mode::Standard, user(comm)) };
        exchange::finish(request, sent)?.deliver(status)
    }

    /// Begins a send and a receive under one request. MPI 5.0 §3.10.
    fn Isendrecv(
        sendbuf: ConstBuffer, sendcount: Count, sendtype: Committed, dest: Rank, sendtag: Tag, recvbuf: Buffer,
        recvcount: Count, recvtype: Committed, source: Rank, recvtag: RecvTag, comm: Comm, request: Out<usize>,
    ) [large] => {
        tell_if_heard();
        let out = data(sendbuf, sendcount, sendtype, "sendbuf")?;
        let inward = data(recvbuf, recvcount, recvtype, "recvbuf")?;
        rank_to(dest, comm, "dest")?;
        rank_from(source, comm, "source")?;
        // SAFETY: the receive buffer is writable until the request completes, by the standard.
        let receive = unsafe { pml::selected().irecv(&inward, source, recvtag, user(comm))? };
        // SAFETY: the send buffer is readable until the request completes, by the standard.
        let sent = unsafe { pml::selected().isend(&out, dest, sendtag, Mode::Standard, user(comm)) };
        request.set(begin_exchange(receive, sent, Vec::new())?.into_handle());
        Ok(())
    }

    /// Begins a send and a receive through one buffer. MPI 5.0 §3.10.
    fn Isendrecv_replace(
        buf: Buffer, count: Count, datatype: Committed, dest: Rank, sendtag: Tag, source: Rank, recvtag: RecvTag,
        comm: Comm, request: Out<usize>,
    ) [large] => {
        tell_if_heard();
        let whole = data(buf, count, datatype, "buf")?;
        rank_to(dest, comm, "dest")?;
        rank_from(source, comm, "source")?;
        // SAFETY: the buffer is readable by the standard.
        let mut copy = unsafe { whole.packed()? };
        let out = Data { at: copy.as_mut_ptr(), count: copy.len(), datatype: datatype::byte() };
        // SAFETY: the buffer is writable until the request completes, by the standard.
        let receive = unsafe { pml::selected().irecv(&whole, source, recvtag, user(comm))? };
        // SAFETY: the copy lives as long as the request and does not move when the vector does.
        let sent = unsafe { pml::selected().isend(&out, dest, sendtag, Mode::Standard, user(comm)) };
        request.set(begin_exchange(receive, sent, copy)?.into_handle());
        Ok(())
    }
}

/// The user's messages on a communicator.
#[inline(always)]
fn user(comm: &Communicator) -> MatchContext<'_> {
    MatchContext { comm, collective: false }
}

/// One request for both halves of an exchange. If the send failed nothing may ever come: the receive is cancelled.
fn begin_exchange(receive: Request, sent: Result<Request>, copy: Vec<u8>) -> Result<Request> {
    match sent {
        Ok(send) => exchange::join(receive, send, copy),
        Err(fault) => exchange::finish(receive, Err(fault)).and(Err(Class::Intern.into())),
    }
}
