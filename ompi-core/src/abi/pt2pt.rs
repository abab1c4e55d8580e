//! Blocking and nonblocking sends and receives. MPI 5.0 §3.2, §3.4, §3.7 and §3.10.

use super::kinds::{Buffer, Comm, Committed, ConstBuffer, Count, Out, Rank, RecvTag, StatusOut, Tag};

rows! {
    /// Sends a message and returns when the buffer may be used again. MPI 5.0 §3.2.1.
    fn Send(
        buf: ConstBuffer, count: Count, datatype: Committed, dest: Rank, tag: Tag, comm: Comm,
    ) [large] => unsupported

    /// Sends through the buffer that the user attached. MPI 5.0 §3.4.
    fn Bsend(
        buf: ConstBuffer, count: Count, datatype: Committed, dest: Rank, tag: Tag, comm: Comm,
    ) [large] => unsupported

    /// Sends and returns only after the receive has begun. MPI 5.0 §3.4.
    fn Ssend(
        buf: ConstBuffer, count: Count, datatype: Committed, dest: Rank, tag: Tag, comm: Comm,
    ) [large] => unsupported

    /// Sends to a receive that the user knows to be posted. MPI 5.0 §3.4.
    fn Rsend(
        buf: ConstBuffer, count: Count, datatype: Committed, dest: Rank, tag: Tag, comm: Comm,
    ) [large] => unsupported

    /// Receives a message. MPI 5.0 §3.2.4.
    fn Recv(
        buf: Buffer, count: Count, datatype: Committed, source: Rank, tag: RecvTag, comm: Comm, status: StatusOut,
    ) [large] => unsupported

    /// Begins a standard send. MPI 5.0 §3.7.2.
    fn Isend(
        buf: ConstBuffer, count: Count, datatype: Committed, dest: Rank, tag: Tag, comm: Comm, request: Out<usize>,
    ) [large] => unsupported

    /// Begins a buffered send. MPI 5.0 §3.7.2.
    fn Ibsend(
        buf: ConstBuffer, count: Count, datatype: Committed, dest: Rank, tag: Tag, comm: Comm, request: Out<usize>,
    ) [large] => unsupported

    /// Begins a synchronous send. MPI 5.0 §3.7.2.
    fn Issend(
        buf: ConstBuffer, count: Count, datatype: Committed, dest: Rank, tag: Tag, comm: Comm, request: Out<usize>,
    ) [large] => unsupported

    /// Begins a ready send. MPI 5.0 §3.7.2.
    fn Irsend(
        buf: ConstBuffer, count: Count, datatype: Committed, dest: Rank, tag: Tag, comm: Comm, request: Out<usize>,
    ) [large] => unsupported

    /// Begins a receive. MPI 5.0 §3.7.2.
    fn Irecv(
        buf: Buffer, count: Count, datatype: Committed, source: Rank, tag: RecvTag, comm: Comm, request: Out<usize>,
    ) [large] => unsupported

    /// Sends one message and receives another, without deadlock. MPI 5.0 §3.10.
    fn Sendrecv(
        sendbuf: ConstBuffer, sendcount: Count, sendtype: Committed, dest: Rank, sendtag: Tag, recvbuf: Buffer,
        recvcount: Count, recvtype: Committed, source: Rank, recvtag: RecvTag, comm: Comm, status: StatusOut,
    ) [large] => unsupported

    /// Sends what is in the buffer and receives into it. MPI 5.0 §3.10.
    fn Sendrecv_replace(
        buf: Buffer, count: Count, datatype: Committed, dest: Rank, sendtag: Tag, source: Rank, recvtag: RecvTag,
        comm: Comm, status: StatusOut,
    ) [large] => unsupported

    /// Begins a send and a receive under one request. MPI 5.0 §3.10.
    fn Isendrecv(
        sendbuf: ConstBuffer, sendcount: Count, sendtype: Committed, dest: Rank, sendtag: Tag, recvbuf: Buffer,
        recvcount: Count, recvtype: Committed, source: Rank, recvtag: RecvTag, comm: Comm, request: Out<usize>,
    ) [large] => unsupported

    /// Begins a send and a receive through one buffer. MPI 5.0 §3.10.
    fn Isendrecv_replace(
        buf: Buffer, count: Count, datatype: Committed, dest: Rank, sendtag: Tag, source: Rank, recvtag: RecvTag,
        comm: Comm, request: Out<usize>,
    ) [large] => unsupported
}
