//! Blocking collectives that move data. MPI 5.0 §6.3 to §6.8.

use super::kinds::{Array, Buffer, Comm, Committed, ConstBuffer, Count, Counts, Rank};

rows! {
    /// Returns when all processes have called it. MPI 5.0 §6.3.
    fn Barrier(comm: Comm) [] => unsupported

    /// The root's data to all. MPI 5.0 §6.4.
    fn Bcast(buffer: Buffer, count: Count, datatype: Committed, root: Rank, comm: Comm) [large] => unsupported

    /// Equal blocks from all to the root. MPI 5.0 §6.5.
    fn Gather(
        sendbuf: ConstBuffer, sendcount: Count, sendtype: Committed, recvbuf: Buffer, recvcount: Count,
        recvtype: Committed, root: Rank, comm: Comm,
    ) [large] => unsupported

    /// Blocks of any size from all to the root. MPI 5.0 §6.5.
    fn Gatherv(
        sendbuf: ConstBuffer, sendcount: Count, sendtype: Committed, recvbuf: Buffer, recvcounts: Counts,
        displs: Counts, recvtype: Committed, root: Rank, comm: Comm,
    ) [large] => unsupported

    /// Equal blocks of the root's data to all. MPI 5.0 §6.6.
    fn Scatter(
        sendbuf: ConstBuffer, sendcount: Count, sendtype: Committed, recvbuf: Buffer, recvcount: Count,
        recvtype: Committed, root: Rank, comm: Comm,
    ) [large] => unsupported

    /// Blocks of any size of the root's data to all. MPI 5.0 §6.6.
    fn Scatterv(
        sendbuf: ConstBuffer, sendcounts: Counts, displs: Counts, sendtype: Committed, recvbuf: Buffer,
        recvcount: Count, recvtype: Committed, root: Rank, comm: Comm,
    ) [large] => unsupported

    /// Equal blocks from all to all. MPI 5.0 §6.7.
    fn Allgather(
        sendbuf: ConstBuffer, sendcount: Count, sendtype: Committed, recvbuf: Buffer, recvcount: Count,
        recvtype: Committed, comm: Comm,
    ) [large] => unsupported

    /// Blocks of any size from all to all. MPI 5.0 §6.7.
    fn Allgatherv(
        sendbuf: ConstBuffer, sendcount: Count, sendtype: Committed, recvbuf: Buffer, recvcounts: Counts,
        displs: Counts, recvtype: Committed, comm: Comm,
    ) [large] => unsupported

    /// From each to each a block of its own, all equal. MPI 5.0 §6.8.
    fn Alltoall(
        sendbuf: ConstBuffer, sendcount: Count, sendtype: Committed, recvbuf: Buffer, recvcount: Count,
        recvtype: Committed, comm: Comm,
    ) [large] => unsupported

    /// From each to each a block of its own, of any size. MPI 5.0 §6.8.
    fn Alltoallv(
        sendbuf: ConstBuffer, sendcounts: Counts, sdispls: Counts, sendtype: Committed, recvbuf: Buffer,
        recvcounts: Counts, rdispls: Counts, recvtype: Committed, comm: Comm,
    ) [large] => unsupported

    /// From each to each a block of its own, of any size and datatype. MPI 5.0 §6.8.
    fn Alltoallw(
        sendbuf: ConstBuffer, sendcounts: Counts, sdispls: Counts, sendtypes: Array<usize>, recvbuf: Buffer,
        recvcounts: Counts, rdispls: Counts, recvtypes: Array<usize>, comm: Comm,
    ) [large] => unsupported
}
