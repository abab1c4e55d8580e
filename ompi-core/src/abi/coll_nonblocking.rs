//! Nonblocking collectives. MPI 5.0 §6.12.

use super::kinds::{Array, Buffer, Comm, Committed, ConstBuffer, Count, Counts, Op, Out, Rank};

rows! {
    /// Begins a barrier. MPI 5.0 §6.12.1.
    fn Ibarrier(comm: Comm, request: Out<usize>) [] => unsupported

    /// Begins MPI_Bcast. MPI 5.0 §6.12.2.
    fn Ibcast(
        buffer: Buffer, count: Count, datatype: Committed, root: Rank, comm: Comm, request: Out<usize>,
    ) [large] => unsupported

    /// Begins MPI_Gather. MPI 5.0 §6.12.3.
    fn Igather(
        sendbuf: ConstBuffer, sendcount: Count, sendtype: Committed, recvbuf: Buffer, recvcount: Count,
        recvtype: Committed, root: Rank, comm: Comm, request: Out<usize>,
    ) [large] => unsupported

    /// Begins MPI_Gatherv. MPI 5.0 §6.12.3.
    fn Igatherv(
        sendbuf: ConstBuffer, sendcount: Count, sendtype: Committed, recvbuf: Buffer, recvcounts: Counts,
        displs: Counts, recvtype: Committed, root: Rank, comm: Comm, request: Out<usize>,
    ) [large] => unsupported

    /// Begins MPI_Scatter. MPI 5.0 §6.12.4.
    fn Iscatter(
        sendbuf: ConstBuffer, sendcount: Count, sendtype: Committed, recvbuf: Buffer, recvcount: Count,
        recvtype: Committed, root: Rank, comm: Comm, request: Out<usize>,
    ) [large] => unsupported

    /// Begins MPI_Scatterv. MPI 5.0 §6.12.4.
    fn Iscatterv(
        sendbuf: ConstBuffer, sendcounts: Counts, displs: Counts, sendtype: Committed, recvbuf: Buffer,
        recvcount: Count, recvtype: Committed, root: Rank, comm: Comm, request: Out<usize>,
    ) [large] => unsupported

    /// Begins MPI_Allgather. MPI 5.0 §6.12.5.
    fn Iallgather(
        sendbuf: ConstBuffer, sendcount: Count, sendtype: Committed, recvbuf: Buffer, recvcount: Count,
        recvtype: Committed, comm: Comm, request: Out<usize>,
    ) [large] => unsupported

    /// Begins MPI_Allgatherv. MPI 5.0 §6.12.5.
    fn Iallgatherv(
        sendbuf: ConstBuffer, sendcount: Count, sendtype: Committed, recvbuf: Buffer, recvcounts: Counts,
        displs: Counts, recvtype: Committed, comm: Comm, request: Out<usize>,
    ) [large] => unsupported

    /// Begins MPI_Alltoall. MPI 5.0 §6.12.6.
    fn Ialltoall(
        sendbuf: ConstBuffer, sendcount: Count, sendtype: Committed, recvbuf: Buffer, recvcount: Count,
        recvtype: Committed, comm: Comm, request: Out<usize>,
    ) [large] => unsupported

    /// Begins MPI_Alltoallv. MPI 5.0 §6.12.6.
    fn Ialltoallv(
        sendbuf: ConstBuffer, sendcounts: Counts, sdispls: Counts, sendtype: Committed, recvbuf: Buffer,
        recvcounts: Counts, rdispls: Counts, recvtype: Committed, comm: Comm, request: Out<usize>,
    ) [large] => unsupported

    /// Begins MPI_Alltoallw. MPI 5.0 §6.12.6.
    fn Ialltoallw(
        sendbuf: ConstBuffer, sendcounts: Counts, sdispls: Counts, sendtypes: Array<usize>, recvbuf: Buffer,
        recvcounts: Counts, rdispls: Counts, recvtypes: Array<usize>, comm: Comm, request: Out<usize>,
    ) [large] => unsupported

    /// Begins MPI_Reduce. MPI 5.0 §6.12.7.
    fn Ireduce(
        sendbuf: ConstBuffer, recvbuf: Buffer, count: Count, datatype: Committed, op: Op, root: Rank, comm: Comm,
        request: Out<usize>,
    ) [large] => unsupported

    /// Begins MPI_Allreduce. MPI 5.0 §6.12.8.
    fn Iallreduce(
        sendbuf: ConstBuffer, recvbuf: Buffer, count: Count, datatype: Committed, op: Op, comm: Comm,
        request: Out<usize>,
    ) [large] => unsupported

    /// Begins MPI_Reduce_scatter_block. MPI 5.0 §6.12.9.
    fn Ireduce_scatter_block(
        sendbuf: ConstBuffer, recvbuf: Buffer, recvcount: Count, datatype: Committed, op: Op, comm: Comm,
        request: Out<usize>,
    ) [large] => unsupported

    /// Begins MPI_Reduce_scatter. MPI 5.0 §6.12.10.
    fn Ireduce_scatter(
        sendbuf: ConstBuffer, recvbuf: Buffer, recvcounts: Counts, datatype: Committed, op: Op, comm: Comm,
        request: Out<usize>,
    ) [large] => unsupported

    /// Begins MPI_Scan. MPI 5.0 §6.12.11.
    fn Iscan(
        sendbuf: ConstBuffer, recvbuf: Buffer, count: Count, datatype: Committed, op: Op, comm: Comm,
        request: Out<usize>,
    ) [large] => unsupported

    /// Begins MPI_Exscan. MPI 5.0 §6.12.12.
    fn Iexscan(
        sendbuf: ConstBuffer, recvbuf: Buffer, count: Count, datatype: Committed, op: Op, comm: Comm,
        request: Out<usize>,
    ) [large] => unsupported
}
