//! Persistent collectives. MPI 5.0 §6.13.

use super::kinds::{Array, Buffer, Comm, Committed, ConstBuffer, Count, Counts, Hints, Op, Out, Rank};

rows! {
    /// Makes a persistent request for a barrier. MPI 5.0 §6.13.1.
    fn Barrier_init(comm: Comm, info: Hints, request: Out<usize>) [] => unsupported

    /// Makes a persistent request for MPI_Bcast. MPI 5.0 §6.13.2.
    fn Bcast_init(
        buffer: Buffer, count: Count, datatype: Committed, root: Rank, comm: Comm, info: Hints, request: Out<usize>,
    ) [large] => unsupported

    /// Makes a persistent request for MPI_Gather. MPI 5.0 §6.13.3.
    fn Gather_init(
        sendbuf: ConstBuffer, sendcount: Count, sendtype: Committed, recvbuf: Buffer, recvcount: Count,
        recvtype: Committed, root: Rank, comm: Comm, info: Hints, request: Out<usize>,
    ) [large] => unsupported

    /// Makes a persistent request for MPI_Gatherv. MPI 5.0 §6.13.3.
    fn Gatherv_init(
        sendbuf: ConstBuffer, sendcount: Count, sendtype: Committed, recvbuf: Buffer, recvcounts: Counts,
        displs: Counts, recvtype: Committed, root: Rank, comm: Comm, info: Hints, request: Out<usize>,
    ) [large] => unsupported

    /// Makes a persistent request for MPI_Scatter. MPI 5.0 §6.13.4.
    fn Scatter_init(
        sendbuf: ConstBuffer, sendcount: Count, sendtype: Committed, recvbuf: Buffer, recvcount: Count,
        recvtype: Committed, root: Rank, comm: Comm, info: Hints, request: Out<usize>,
    ) [large] => unsupported

    /// Makes a persistent request for MPI_Scatterv. MPI 5.0 §6.13.4.
    fn Scatterv_init(
        sendbuf: ConstBuffer, sendcounts: Counts, displs: Counts, sendtype: Committed, recvbuf: Buffer,
        recvcount: Count, recvtype: Committed, root: Rank, comm: Comm, info: Hints, request: Out<usize>,
    ) [large] => unsupported

    /// Makes a persistent request for MPI_Allgather. MPI 5.0 §6.13.5.
    fn Allgather_init(
        sendbuf: ConstBuffer, sendcount: Count, sendtype: Committed, recvbuf: Buffer, recvcount: Count,
        recvtype: Committed, comm: Comm, info: Hints, request: Out<usize>,
    ) [large] => unsupported

    /// Makes a persistent request for MPI_Allgatherv. MPI 5.0 §6.13.5.
    fn Allgatherv_init(
        sendbuf: ConstBuffer, sendcount: Count, sendtype: Committed, recvbuf: Buffer, recvcounts: Counts,
        displs: Counts, recvtype: Committed, comm: Comm, info: Hints, request: Out<usize>,
    ) [large] => unsupported

    /// Makes a persistent request for MPI_Alltoall. MPI 5.0 §6.13.6.
    fn Alltoall_init(
        sendbuf: ConstBuffer, sendcount: Count, sendtype: Committed, recvbuf: Buffer, recvcount: Count,
        recvtype: Committed, comm: Comm, info: Hints, request: Out<usize>,
    ) [large] => unsupported

    /// Makes a persistent request for MPI_Alltoallv. MPI 5.0 §6.13.6.
    fn Alltoallv_init(
        sendbuf: ConstBuffer, sendcounts: Counts, sdispls: Counts, sendtype: Committed, recvbuf: Buffer,
        recvcounts: Counts, rdispls: Counts, recvtype: Committed, comm: Comm, info: Hints, request: Out<usize>,
    ) [large] => unsupported

    /// Makes a persistent request for MPI_Alltoallw. MPI 5.0 §6.13.6.
    fn Alltoallw_init(
        sendbuf: ConstBuffer, sendcounts: Counts, sdispls: Counts, sendtypes: Array<usize>, recvbuf: Buffer,
        recvcounts: Counts, rdispls: Counts, recvtypes: Array<usize>, comm: Comm, info: Hints, request: Out<usize>,
    ) [large] => unsupported

    /// Makes a persistent request for MPI_Reduce. MPI 5.0 §6.13.7.
    fn Reduce_init(
        sendbuf: ConstBuffer, recvbuf: Buffer, count: Count, datatype: Committed, op: Op, root: Rank, comm: Comm,
        info: Hints, request: Out<usize>,
    ) [large] => unsupported

    /// Makes a persistent request for MPI_Allreduce. MPI 5.0 §6.13.8.
    fn Allreduce_init(
        sendbuf: ConstBuffer, recvbuf: Buffer, count: Count, datatype: Committed, op: Op, comm: Comm, info: Hints,
        request: Out<usize>,
    ) [large] => unsupported

    /// Makes a persistent request for MPI_Reduce_scatter_block. MPI 5.0 §6.13.9.
    fn Reduce_scatter_block_init(
        sendbuf: ConstBuffer, recvbuf: Buffer, recvcount: Count, datatype: Committed, op: Op, comm: Comm, info: Hints,
        request: Out<usize>,
    ) [large] => unsupported

    /// Makes a persistent request for MPI_Reduce_scatter. MPI 5.0 §6.13.10.
    fn Reduce_scatter_init(
        sendbuf: ConstBuffer, recvbuf: Buffer, recvcounts: Counts, datatype: Committed, op: Op, comm: Comm,
        info: Hints, request: Out<usize>,
    ) [large] => unsupported

    /// Makes a persistent request for MPI_Scan. MPI 5.0 §6.13.11.
    fn Scan_init(
        sendbuf: ConstBuffer, recvbuf: Buffer, count: Count, datatype: Committed, op: Op, comm: Comm, info: Hints,
        request: Out<usize>,
    ) [large] => unsupported

    /// Makes a persistent request for MPI_Exscan. MPI 5.0 §6.13.12.
    fn Exscan_init(
        sendbuf: ConstBuffer, recvbuf: Buffer, count: Count, datatype: Committed, op: Op, comm: Comm, info: Hints,
        request: Out<usize>,
    ) [large] => unsupported
}
