//! Nonblocking collectives. MPI 5.0 §6.12.

use super::coll::{
    allgather, allgatherv, alltoall, alltoallv, alltoallw, barrier, bcast, gather, gatherv, scatter, scatterv,
};
use super::coll_reduce::{allreduce, exscan, reduce, reduce_scatter, reduce_scatter_block, scan};
use super::coll_variant::Variant;
use super::kinds::{
    Array, ArrayOfCounts, Buffer, CommHandle, Committed, ConstBuffer, Count, LateType, Op, Out, Rank, Signed,
};

rows! {
    /// Begins a barrier. MPI 5.0 §6.12.1.
    fn Ibarrier(comm: CommHandle, request: Out<usize>) [] => {
        barrier(Variant::Nonblocking(comm, request))
    }

    /// Begins MPI_Bcast. MPI 5.0 §6.12.2.
    fn Ibcast(
        buffer: Buffer, count: Count, datatype: Committed, root: Rank, comm: CommHandle, request: Out<usize>,
    ) [large] => {
        bcast(Variant::Nonblocking(comm, request), buffer, count, datatype, root)
    }

    /// Begins MPI_Gather. MPI 5.0 §6.12.3.
    fn Igather(
        sendbuf: ConstBuffer, sendcount: Signed, sendtype: LateType, recvbuf: Buffer, recvcount: Signed,
        recvtype: LateType, root: Rank, comm: CommHandle, request: Out<usize>,
    ) [large] => {
        gather(Variant::Nonblocking(comm, request), (sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype), root)
    }

    /// Begins MPI_Gatherv. MPI 5.0 §6.12.3.
    fn Igatherv(
        sendbuf: ConstBuffer, sendcount: Signed, sendtype: LateType, recvbuf: Buffer, recvcounts: ArrayOfCounts,
        displs: ArrayOfCounts, recvtype: LateType, root: Rank, comm: CommHandle, request: Out<usize>,
    ) [large] => {
        gatherv(Variant::Nonblocking(comm, request), (sendbuf, sendcount, sendtype), (recvbuf, recvcounts, displs, recvtype), root)
    }

    /// Begins MPI_Scatter. MPI 5.0 §6.12.4.
    fn Iscatter(
        sendbuf: ConstBuffer, sendcount: Signed, sendtype: LateType, recvbuf: Buffer, recvcount: Signed,
        recvtype: LateType, root: Rank, comm: CommHandle, request: Out<usize>,
    ) [large] => {
        scatter(Variant::Nonblocking(comm, request), (sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype), root)
    }

    /// Begins MPI_Scatterv. MPI 5.0 §6.12.4.
    fn Iscatterv(
        sendbuf: ConstBuffer, sendcounts: ArrayOfCounts, displs: ArrayOfCounts, sendtype: LateType, recvbuf: Buffer,
        recvcount: Signed, recvtype: LateType, root: Rank, comm: CommHandle, request: Out<usize>,
    ) [large] => {
        scatterv(Variant::Nonblocking(comm, request), (sendbuf, sendcounts, displs, sendtype), (recvbuf, recvcount, recvtype), root)
    }

    /// Begins MPI_Allgather. MPI 5.0 §6.12.5.
    fn Iallgather(
        sendbuf: ConstBuffer, sendcount: Signed, sendtype: LateType, recvbuf: Buffer, recvcount: Count,
        recvtype: Committed, comm: CommHandle, request: Out<usize>,
    ) [large] => {
        allgather(Variant::Nonblocking(comm, request), (sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype))
    }

    /// Begins MPI_Allgatherv. MPI 5.0 §6.12.5.
    fn Iallgatherv(
        sendbuf: ConstBuffer, sendcount: Signed, sendtype: LateType, recvbuf: Buffer, recvcounts: ArrayOfCounts,
        displs: ArrayOfCounts, recvtype: LateType, comm: CommHandle, request: Out<usize>,
    ) [large] => {
        allgatherv(Variant::Nonblocking(comm, request), (sendbuf, sendcount, sendtype), (recvbuf, recvcounts, displs, recvtype))
    }

    /// Begins MPI_Alltoall. MPI 5.0 §6.12.6.
    fn Ialltoall(
        sendbuf: ConstBuffer, sendcount: Signed, sendtype: LateType, recvbuf: Buffer, recvcount: Count,
        recvtype: Committed, comm: CommHandle, request: Out<usize>,
    ) [large] => {
        alltoall(Variant::Nonblocking(comm, request), (sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype))
    }

    /// Begins MPI_Alltoallv. MPI 5.0 §6.12.6.
    fn Ialltoallv(
        sendbuf: ConstBuffer, sendcounts: ArrayOfCounts, sdispls: ArrayOfCounts, sendtype: LateType, recvbuf: Buffer,
        recvcounts: ArrayOfCounts, rdispls: ArrayOfCounts, recvtype: LateType, comm: CommHandle, request: Out<usize>,
    ) [large] => {
        let from = (sendbuf, sendcounts, sdispls, sendtype);
        alltoallv(Variant::Nonblocking(comm, request), from, (recvbuf, recvcounts, rdispls, recvtype))
    }

    /// Begins MPI_Alltoallw. MPI 5.0 §6.12.6.
    fn Ialltoallw(
        sendbuf: ConstBuffer, sendcounts: ArrayOfCounts, sdispls: ArrayOfCounts, sendtypes: Array<usize>, recvbuf: Buffer,
        recvcounts: ArrayOfCounts, rdispls: ArrayOfCounts, recvtypes: Array<usize>, comm: CommHandle, request: Out<usize>,
    ) [large] => {
        let from = (sendbuf, (sendcounts, sdispls, sendtypes));
        alltoallw(Variant::Nonblocking(comm, request), from, (recvbuf, (recvcounts, rdispls, recvtypes)))
    }

    /// Begins MPI_Reduce. MPI 5.0 §6.12.7.
    fn Ireduce(
        sendbuf: ConstBuffer, recvbuf: Buffer, count: Count, datatype: Committed, op: Op, root: Rank, comm: CommHandle,
        request: Out<usize>,
    ) [large] => {
        reduce(Variant::Nonblocking(comm, request), sendbuf, recvbuf, (count, datatype), &op, root)
    }

    /// Begins MPI_Allreduce. MPI 5.0 §6.12.8.
    fn Iallreduce(
        sendbuf: ConstBuffer, recvbuf: Buffer, count: Count, datatype: Committed, op: Op, comm: CommHandle,
        request: Out<usize>,
    ) [large] => {
        allreduce(Variant::Nonblocking(comm, request), sendbuf, recvbuf, (count, datatype), &op)
    }

    /// Begins MPI_Reduce_scatter_block. MPI 5.0 §6.12.9.
    fn Ireduce_scatter_block(
        sendbuf: ConstBuffer, recvbuf: Buffer, recvcount: Count, datatype: Committed, op: Op, comm: CommHandle,
        request: Out<usize>,
    ) [large] => {
        reduce_scatter_block(Variant::Nonblocking(comm, request), sendbuf, recvbuf, (recvcount, datatype), &op)
    }

    /// Begins MPI_Reduce_scatter. MPI 5.0 §6.12.10.
    fn Ireduce_scatter(
        sendbuf: ConstBuffer, recvbuf: Buffer, recvcounts: ArrayOfCounts, datatype: Committed, op: Op, comm: CommHandle,
        request: Out<usize>,
    ) [large] => {
        reduce_scatter(Variant::Nonblocking(comm, request), sendbuf, recvbuf, (recvcounts, datatype), &op)
    }

    /// Begins MPI_Scan. MPI 5.0 §6.12.11.
    fn Iscan(
        sendbuf: ConstBuffer, recvbuf: Buffer, count: Count, datatype: Committed, op: Op, comm: CommHandle,
        request: Out<usize>,
    ) [large] => {
        scan(Variant::Nonblocking(comm, request), sendbuf, recvbuf, (count, datatype), &op)
    }

    /// Begins MPI_Exscan. MPI 5.0 §6.12.12.
    fn Iexscan(
        sendbuf: ConstBuffer, recvbuf: Buffer, count: Count, datatype: Committed, op: Op, comm: CommHandle,
        request: Out<usize>,
    ) [large] => {
        exscan(Variant::Nonblocking(comm, request), sendbuf, recvbuf, (count, datatype), &op)
    }
}
