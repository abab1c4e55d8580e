//! Persistent sends and receives. MPI 5.0 §3.9.

use super::kinds::{Buffer, Comm, Committed, ConstBuffer, Count, Out, OutArray, Rank, RecvTag, Tag};

rows! {
    /// Makes a persistent request for a standard send. MPI 5.0 §3.9.
    fn Send_init(
        buf: ConstBuffer, count: Count, datatype: Committed, dest: Rank, tag: Tag, comm: Comm, request: Out<usize>,
    ) [large] => unsupported

    /// Makes a persistent request for a buffered send. MPI 5.0 §3.9.
    fn Bsend_init(
        buf: ConstBuffer, count: Count, datatype: Committed, dest: Rank, tag: Tag, comm: Comm, request: Out<usize>,
    ) [large] => unsupported

    /// Makes a persistent request for a synchronous send. MPI 5.0 §3.9.
    fn Ssend_init(
        buf: ConstBuffer, count: Count, datatype: Committed, dest: Rank, tag: Tag, comm: Comm, request: Out<usize>,
    ) [large] => unsupported

    /// Makes a persistent request for a ready send. MPI 5.0 §3.9.
    fn Rsend_init(
        buf: ConstBuffer, count: Count, datatype: Committed, dest: Rank, tag: Tag, comm: Comm, request: Out<usize>,
    ) [large] => unsupported

    /// Makes a persistent request for a receive. MPI 5.0 §3.9.
    fn Recv_init(
        buf: Buffer, count: Count, datatype: Committed, source: Rank, tag: RecvTag, comm: Comm, request: Out<usize>,
    ) [large] => unsupported

    /// Starts a persistent request. MPI 5.0 §3.9.
    fn Start(request: Out<usize>) [] => unsupported

    /// Starts several persistent requests. MPI 5.0 §3.9.
    fn Startall(count: Count, array_of_requests: OutArray<usize>) [] => unsupported
}
