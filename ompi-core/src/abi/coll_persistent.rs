//! Persistent collectives. MPI 5.0 §6.13.

use super::coll::{
    allgather, allgatherv, alltoall, alltoallv, alltoallw, barrier, bcast, gather, gatherv, scatter, scatterv,
};
use super::coll_reduce::{allreduce, exscan, reduce, reduce_scatter, reduce_scatter_block, scan};
use super::coll_variant::Variant;
use super::kinds::{
    Array, ArrayOfCounts, Buffer, CommHandle, Committed, ConstBuffer, Count, Hints, LateType, Op, Out, Rank, Signed,
};

rows! {
    /// Makes a persistent request for a barrier. MPI 5.0 §6.13.1.
    fn Barrier_init(comm: CommHandle, info: Hints, request: Out<usize>) [] => {
        barrier(Variant::Persistent(comm, info, request))
    }

    /// Makes a persistent request for MPI_Bcast. MPI 5.0 §6.13.2.
    fn Bcast_init(
        buffer: Buffer, count: Count, datatype: Committed, root: Rank, comm: CommHandle, info: Hints,
        request: Out<usize>,
    ) [large] => {
        bcast(Variant::Persistent(comm, info, request), buffer, count, datatype, root)
    }

    /// Makes a persistent request for MPI_Gather. MPI 5.0 §6.13.3.
    fn Gather_init(
        sendbuf: ConstBuffer, sendcount: Signed, sendtype: LateType, recvbuf: Buffer, recvcount: Signed,
        recvtype: LateType, root: Rank, comm: CommHandle, info: Hints, request: Out<usize>,
    ) [large] => {
        gather(Variant::Persistent(comm, info, request), (sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype), root)
    }

    /// Makes a persistent request for MPI_Gatherv. MPI 5.0 §6.13.3.
    fn Gatherv_init(
        sendbuf: ConstBuffer, sendcount: Signed, sendtype: LateType, recvbuf: Buffer, recvcounts: ArrayOfCounts,
        displs: ArrayOfCounts, recvtype: LateType, root: Rank, comm: CommHandle, info: Hints, request: Out<usize>,
    ) [large] => {
        gatherv(Variant::Persistent(comm, info, request), (sendbuf, sendcount, sendtype), (recvbuf, recvcounts, displs, recvtype), root)
    }

    /// Makes a persistent request for MPI_Scatter. MPI 5.0 §6.13.4.
    fn Scatter_init(
        sendbuf: ConstBuffer, sendcount: Signed, sendtype: LateType, recvbuf: Buffer, recvcount: Signed,
        recvtype: LateType, root: Rank, comm: CommHandle, info: Hints, request: Out<usize>,
    ) [large] => {
        scatter(Variant::Persistent(comm, info, request), (sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype), root)
    }

    /// Makes a persistent request for MPI_Scatterv. MPI 5.0 §6.13.4.
    fn Scatterv_init(
        sendbuf: ConstBuffer, sendcounts: ArrayOfCounts, displs: ArrayOfCounts, sendtype: LateType, recvbuf: Buffer,
        recvcount: Signed, recvtype: LateType, root: Rank, comm: CommHandle, info: Hints, request: Out<usize>,
    ) [large] => {
        scatterv(Variant::Persistent(comm, info, request), (sendbuf, sendcounts, displs, sendtype), (recvbuf, recvcount, recvtype), root)
    }

    /// Makes a persistent request for MPI_Allgather. MPI 5.0 §6.13.5.
    fn Allgather_init(
        sendbuf: ConstBuffer, sendcount: Signed, sendtype: LateType, recvbuf: Buffer, recvcount: Count,
        recvtype: Committed, comm: CommHandle, info: Hints, request: Out<usize>,
    ) [large] => {
        allgather(Variant::Persistent(comm, info, request), (sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype))
    }

    /// Makes a persistent request for MPI_Allgatherv. MPI 5.0 §6.13.5.
    fn Allgatherv_init(
        sendbuf: ConstBuffer, sendcount: Signed, sendtype: LateType, recvbuf: Buffer, recvcounts: ArrayOfCounts,
        displs: ArrayOfCounts, recvtype: LateType, comm: CommHandle, info: Hints, request: Out<usize>,
    ) [large] => {
        allgatherv(Variant::Persistent(comm, info, request), (sendbuf, sendcount, sendtype), (recvbuf, recvcounts, displs, recvtype))
    }

    /// Makes a persistent request for MPI_Alltoall. MPI 5.0 §6.13.6.
    fn Alltoall_init(
        sendbuf: ConstBuffer, sendcount: Signed, sendtype: LateType, recvbuf: Buffer, recvcount: Count,
        recvtype: Committed, comm: CommHandle, info: Hints, request: Out<usize>,
    ) [large] => {
        alltoall(Variant::Persistent(comm, info, request), (sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype))
    }

    /// Makes a persistent request for MPI_Alltoallv. MPI 5.0 §6.13.6.
    fn Alltoallv_init(
        sendbuf: ConstBuffer, sendcounts: ArrayOfCounts, sdispls: ArrayOfCounts, sendtype: LateType, recvbuf: Buffer,
        recvcounts: ArrayOfCounts, rdispls: ArrayOfCounts, recvtype: LateType, comm: CommHandle, info: Hints, request: Out<usize>,
    ) [large] => {
        let from = (sendbuf, sendcounts, sdispls, sendtype);
        alltoallv(Variant::Persistent(comm, info, request), from, (recvbuf, recvcounts, rdispls, recvtype))
    }

    /// Makes a persistent request for MPI_Alltoallw. MPI 5.0 §6.13.6.
    fn Alltoallw_init(
        sendbuf: ConstBuffer, sendcounts: ArrayOfCounts, sdispls: ArrayOfCounts, sendtypes: Array<usize>, recvbuf: Buffer,
        recvcounts: ArrayOfCounts, rdispls: ArrayOfCounts, recvtypes: Array<usize>, comm: CommHandle, info: Hints, request: Out<usize>,
    ) [large] => {
        let from = (sendbuf, (sendcounts, sdispls, sendtypes));
        alltoallw(Variant::Persistent(comm, info, request), from, (recvbuf, (recvcounts, rdispls, recvtypes)))
    }

    /// Makes a persistent request for MPI_Reduce. MPI 5.0 §6.13.7.
    fn Reduce_init(
        sendbuf: ConstBuffer, recvbuf: Buffer, count: Count, datatype: Committed, op: Op, root: Rank, comm: CommHandle,
        info: Hints, request: Out<usize>,
    ) [large] => {
        reduce(Variant::Persistent(comm, info, request), sendbuf, recvbuf, (count, datatype), &op, root)
    }

    /// Makes a persistent request for MPI_Allreduce. MPI 5.0 §6.13.8.
    fn Allreduce_init(
        sendbuf: ConstBuffer, recvbuf: Buffer, count: Count, datatype: Committed, op: Op, comm: CommHandle, info: Hints,
        request: Out<usize>,
    ) [large] => {
        allreduce(Variant::Persistent(comm, info, request), sendbuf, recvbuf, (count, datatype), &op)
    }

    /// Makes a persistent request for MPI_Reduce_scatter_block. MPI 5.0 §6.13.9.
    fn Reduce_scatter_block_init(
        sendbuf: ConstBuffer, recvbuf: Buffer, recvcount: Count, datatype: Committed, op: Op, comm: CommHandle, info: Hints,
        request: Out<usize>,
    ) [large] => {
        reduce_scatter_block(Variant::Persistent(comm, info, request), sendbuf, recvbuf, (recvcount, datatype), &op)
    }

    /// Makes a persistent request for MPI_Reduce_scatter. MPI 5.0 §6.13.10.
    fn Reduce_scatter_init(
        sendbuf: ConstBuffer, recvbuf: Buffer, recvcounts: ArrayOfCounts, datatype: Committed, op: Op, comm: CommHandle,
        info: Hints, request: Out<usize>,
    ) [large] => {
        reduce_scatter(Variant::Persistent(comm, info, request), sendbuf, recvbuf, (recvcounts, datatype), &op)
    }

    /// Makes a persistent request for MPI_Scan. MPI 5.0 §6.13.11.
    fn Scan_init(
        sendbuf: ConstBuffer, recvbuf: Buffer, count: Count, datatype: Committed, op: Op, comm: CommHandle, info: Hints,
        request: Out<usize>,
    ) [large] => {
        scan(Variant::Persistent(comm, info, request), sendbuf, recvbuf, (count, datatype), &op)
    }

    /// Makes a persistent request for MPI_Exscan. MPI 5.0 §6.13.12.
    fn Exscan_init(
        sendbuf: ConstBuffer, recvbuf: Buffer, count: Count, datatype: Committed, op: Op, comm: CommHandle, info: Hints,
        request: Out<usize>,
    ) [large] => {
        exscan(Variant::Persistent(comm, info, request), sendbuf, recvbuf, (count, datatype), &op)
    }
}
