//! Blocking reductions and scans. MPI 5.0 §6.9 to §6.11.

use super::kinds::{Buffer, Comm, Committed, ConstBuffer, Count, Counts, Op, Rank};

rows! {
    /// Combines everybody's data at the root. MPI 5.0 §6.9.1.
    fn Reduce(
        sendbuf: ConstBuffer, recvbuf: Buffer, count: Count, datatype: Committed, op: Op, root: Rank, comm: Comm,
    ) [large] => unsupported

    /// Combines everybody's data everywhere. MPI 5.0 §6.9.6.
    fn Allreduce(
        sendbuf: ConstBuffer, recvbuf: Buffer, count: Count, datatype: Committed, op: Op, comm: Comm,
    ) [large] => unsupported

    /// Combines two local buffers. MPI 5.0 §6.9.7.
    fn Reduce_local(
        inbuf: ConstBuffer, inoutbuf: Buffer, count: Count, datatype: Committed, op: Op,
    ) [large] => unsupported

    /// Combines and scatters the result in equal blocks. MPI 5.0 §6.10.1.
    fn Reduce_scatter_block(
        sendbuf: ConstBuffer, recvbuf: Buffer, recvcount: Count, datatype: Committed, op: Op, comm: Comm,
    ) [large] => unsupported

    /// Combines and scatters the result in blocks of any size. MPI 5.0 §6.10.2.
    fn Reduce_scatter(
        sendbuf: ConstBuffer, recvbuf: Buffer, recvcounts: Counts, datatype: Committed, op: Op, comm: Comm,
    ) [large] => unsupported

    /// Combines the data of the ranks up to this one. MPI 5.0 §6.11.1.
    fn Scan(
        sendbuf: ConstBuffer, recvbuf: Buffer, count: Count, datatype: Committed, op: Op, comm: Comm,
    ) [large] => unsupported

    /// Combines the data of the ranks below this one. MPI 5.0 §6.11.2.
    fn Exscan(
        sendbuf: ConstBuffer, recvbuf: Buffer, count: Count, datatype: Committed, op: Op, comm: Comm,
    ) [large] => unsupported
}
