//! Looking for messages, and receiving what was found. MPI 5.0 §3.8.

use super::kinds::{Buffer, Comm, Committed, Count, Out, Rank, RecvTag, StatusOut, Tag};
use core::ffi::c_int;

rows! {
    /// Says whether a message could be received now. MPI 5.0 §3.8.1.
    fn Iprobe(source: Rank, tag: RecvTag, comm: Comm, flag: Out<c_int>, status: StatusOut) [] => unsupported

    /// Waits until a message could be received. MPI 5.0 §3.8.1.
    fn Probe(source: Rank, tag: Tag, comm: Comm, status: StatusOut) [] => unsupported

    /// Takes a message out of matching if there is one. MPI 5.0 §3.8.2.
    fn Improbe(
        source: Rank, tag: RecvTag, comm: Comm, flag: Out<c_int>, message: Out<usize>, status: StatusOut,
    ) [] => unsupported

    /// Waits for a message and takes it out of matching. MPI 5.0 §3.8.2.
    fn Mprobe(source: Rank, tag: RecvTag, comm: Comm, message: Out<usize>, status: StatusOut) [] => unsupported

    /// Receives a message that a matching probe found. MPI 5.0 §3.8.3.
    fn Mrecv(
        buf: Buffer, count: Count, datatype: Committed, message: Out<usize>, status: StatusOut,
    ) [large] => unsupported

    /// Begins to receive a message that a matching probe found. MPI 5.0 §3.8.3.
    fn Imrecv(
        buf: Buffer, count: Count, datatype: Committed, message: Out<usize>, request: Out<usize>,
    ) [large] => unsupported
}
