//! Collectives among neighbours of a topology. MPI 5.0 §8.6 to §8.8.

use super::coll::{LateBlocks, LateTyped, Whole};
use super::coll_variant::Variant;
use super::kinds::{
    Aint, Array, ArrayOfCounts, Buffer, Comm, CommHandle, Committed, ConstBuffer, Count, CountArray, Hints, LateType,
    Out, blocks, data, not_in_place, typed_blocks,
};
use crate::data::Data;
use crate::error::Result;
use crate::framework::coll::Call;
use alloc::vec::Vec;

rows! {
    /// The same block to every neighbour. MPI 5.0 §8.6.1.
    fn Neighbor_allgather(
        sendbuf: ConstBuffer, sendcount: Count, sendtype: Committed, recvbuf: Buffer, recvcount: Count,
        recvtype: Committed, comm: Comm,
    ) [large] => {
        allgather(Variant::Blocking(comm), (sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype))
    }

    /// The same block to every neighbour, received in any size. MPI 5.0 §8.6.1.
    fn Neighbor_allgatherv(
        sendbuf: ConstBuffer, sendcount: Count, sendtype: Committed, recvbuf: Buffer, recvcounts: ArrayOfCounts,
        displs: ArrayOfCounts, recvtype: LateType, comm: Comm,
    ) [large] => {
        allgatherv(Variant::Blocking(comm), (sendbuf, sendcount, sendtype), (recvbuf, recvcounts, displs, recvtype))
    }

    /// To every neighbour a block of its own, all equal. MPI 5.0 §8.6.2.
    fn Neighbor_alltoall(
        sendbuf: ConstBuffer, sendcount: Count, sendtype: Committed, recvbuf: Buffer, recvcount: Count,
        recvtype: Committed, comm: Comm,
    ) [large] => {
        alltoall(Variant::Blocking(comm), (sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype))
    }

    /// To every neighbour a block of its own, of any size. MPI 5.0 §8.6.2.
    fn Neighbor_alltoallv(
        sendbuf: ConstBuffer, sendcounts: ArrayOfCounts, sdispls: ArrayOfCounts, sendtype: LateType, recvbuf: Buffer,
        recvcounts: ArrayOfCounts, rdispls: ArrayOfCounts, recvtype: LateType, comm: Comm,
    ) [large] => {
        alltoallv(Variant::Blocking(comm), (sendbuf, sendcounts, sdispls, sendtype), (recvbuf, recvcounts, rdispls, recvtype))
    }

    /// To every neighbour a block of its own, of any size and datatype. MPI 5.0 §8.6.2.
    fn Neighbor_alltoallw(
        sendbuf: ConstBuffer, sendcounts: ArrayOfCounts, sdispls: Array<Aint>, sendtypes: Array<usize>,
        recvbuf: Buffer, recvcounts: ArrayOfCounts, rdispls: Array<Aint>, recvtypes: Array<usize>, comm: Comm,
    ) [large] => {
        let from = (sendbuf, (sendcounts, CountArray::Large(sdispls), sendtypes));
        let to = (recvbuf, (recvcounts, CountArray::Large(rdispls), recvtypes));
        alltoallw(Variant::Blocking(comm), from, to)
    }

    /// Begins MPI_Neighbor_allgather. MPI 5.0 §8.7.1.
    fn Ineighbor_allgather(
        sendbuf: ConstBuffer, sendcount: Count, sendtype: Committed, recvbuf: Buffer, recvcount: Count,
        recvtype: Committed, comm: CommHandle, request: Out<usize>,
    ) [large] => {
        allgather(Variant::Nonblocking(comm, request), (sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype))
    }

    /// Begins MPI_Neighbor_allgatherv. MPI 5.0 §8.7.1.
    fn Ineighbor_allgatherv(
        sendbuf: ConstBuffer, sendcount: Count, sendtype: Committed, recvbuf: Buffer, recvcounts: ArrayOfCounts,
        displs: ArrayOfCounts, recvtype: LateType, comm: CommHandle, request: Out<usize>,
    ) [large] => {
        let to = (recvbuf, recvcounts, displs, recvtype);
        allgatherv(Variant::Nonblocking(comm, request), (sendbuf, sendcount, sendtype), to)
    }

    /// Begins MPI_Neighbor_alltoall. MPI 5.0 §8.7.2.
    fn Ineighbor_alltoall(
        sendbuf: ConstBuffer, sendcount: Count, sendtype: Committed, recvbuf: Buffer, recvcount: Count,
        recvtype: Committed, comm: CommHandle, request: Out<usize>,
    ) [large] => {
        alltoall(Variant::Nonblocking(comm, request), (sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype))
    }

    /// Begins MPI_Neighbor_alltoallv. MPI 5.0 §8.7.2.
    fn Ineighbor_alltoallv(
        sendbuf: ConstBuffer, sendcounts: ArrayOfCounts, sdispls: ArrayOfCounts, sendtype: LateType, recvbuf: Buffer,
        recvcounts: ArrayOfCounts, rdispls: ArrayOfCounts, recvtype: LateType, comm: CommHandle, request: Out<usize>,
    ) [large] => {
        let to = (recvbuf, recvcounts, rdispls, recvtype);
        alltoallv(Variant::Nonblocking(comm, request), (sendbuf, sendcounts, sdispls, sendtype), to)
    }

    /// Begins MPI_Neighbor_alltoallw. MPI 5.0 §8.7.2.
    fn Ineighbor_alltoallw(
        sendbuf: ConstBuffer, sendcounts: ArrayOfCounts, sdispls: Array<Aint>, sendtypes: Array<usize>,
        recvbuf: Buffer, recvcounts: ArrayOfCounts, rdispls: Array<Aint>, recvtypes: Array<usize>, comm: CommHandle,
        request: Out<usize>,
    ) [large] => {
        let from = (sendbuf, (sendcounts, CountArray::Large(sdispls), sendtypes));
        let to = (recvbuf, (recvcounts, CountArray::Large(rdispls), recvtypes));
        alltoallw(Variant::Nonblocking(comm, request), from, to)
    }

    /// Makes a persistent request for MPI_Neighbor_allgather. MPI 5.0 §8.8.1.
    fn Neighbor_allgather_init(
        sendbuf: ConstBuffer, sendcount: Count, sendtype: Committed, recvbuf: Buffer, recvcount: Count,
        recvtype: Committed, comm: CommHandle, info: Hints, request: Out<usize>,
    ) [large] => {
        allgather(Variant::Persistent(comm, info, request), (sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype))
    }

    /// Makes a persistent request for MPI_Neighbor_allgatherv. MPI 5.0 §8.8.1.
    fn Neighbor_allgatherv_init(
        sendbuf: ConstBuffer, sendcount: Count, sendtype: Committed, recvbuf: Buffer, recvcounts: ArrayOfCounts,
        displs: ArrayOfCounts, recvtype: LateType, comm: CommHandle, info: Hints, request: Out<usize>,
    ) [large] => {
        let to = (recvbuf, recvcounts, displs, recvtype);
        allgatherv(Variant::Persistent(comm, info, request), (sendbuf, sendcount, sendtype), to)
    }

    /// Makes a persistent request for MPI_Neighbor_alltoall. MPI 5.0 §8.8.2.
    fn Neighbor_alltoall_init(
        sendbuf: ConstBuffer, sendcount: Count, sendtype: Committed, recvbuf: Buffer, recvcount: Count,
        recvtype: Committed, comm: CommHandle, info: Hints, request: Out<usize>,
    ) [large] => {
        alltoall(Variant::Persistent(comm, info, request), (sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype))
    }

    /// Makes a persistent request for MPI_Neighbor_alltoallv. MPI 5.0 §8.8.2.
    fn Neighbor_alltoallv_init(
        sendbuf: ConstBuffer, sendcounts: ArrayOfCounts, sdispls: ArrayOfCounts, sendtype: LateType, recvbuf: Buffer,
        recvcounts: ArrayOfCounts, rdispls: ArrayOfCounts, recvtype: LateType, comm: CommHandle, info: Hints,
        request: Out<usize>,
    ) [large] => {
        let to = (recvbuf, recvcounts, rdispls, recvtype);
        alltoallv(Variant::Persistent(comm, info, request), (sendbuf, sendcounts, sdispls, sendtype), to)
    }

    /// Makes a persistent request for MPI_Neighbor_alltoallw. MPI 5.0 §8.8.2.
    fn Neighbor_alltoallw_init(
        sendbuf: ConstBuffer, sendcounts: ArrayOfCounts, sdispls: Array<Aint>, sendtypes: Array<usize>,
        recvbuf: Buffer, recvcounts: ArrayOfCounts, rdispls: Array<Aint>, recvtypes: Array<usize>, comm: CommHandle,
        info: Hints, request: Out<usize>,
    ) [large] => {
        let from = (sendbuf, (sendcounts, CountArray::Large(sdispls), sendtypes));
        let to = (recvbuf, (recvcounts, CountArray::Large(rdispls), recvtypes));
        alltoallw(Variant::Persistent(comm, info, request), from, to)
    }
}

fn allgather(variant: Variant, from: Whole, to: Whole) -> Result<()> {
    let among = variant.comm().neighbors()?;
    let (from, to) = (whole(from, "sendbuf")?, whole(to, "recvbuf")?);
    // SAFETY: both buffers are the caller's by the standard.
    unsafe { variant.run(Call::NeighborAllgather(&from, &to, among)) }
}

fn allgatherv(variant: Variant, from: Whole, to: LateBlocks) -> Result<()> {
    let among = variant.comm().neighbors()?;
    let from = whole(from, "sendbuf")?;
    let (at, counts, displs, datatype) = to;
    let names = ["recvbuf", "recvcounts", "displs", "recvtype"];
    // SAFETY: the arrays have an element per source by the standard.
    let to = unsafe { blocks(at, counts, displs, datatype, among.sources.len(), names)? };
    // SAFETY: both buffers are the caller's by the standard.
    unsafe { variant.run(Call::NeighborAllgatherv(&from, &to, among)) }
}

fn alltoall(variant: Variant, from: Whole, to: Whole) -> Result<()> {
    let among = variant.comm().neighbors()?;
    let (from, to) = (whole(from, "sendbuf")?, whole(to, "recvbuf")?);
    // SAFETY: both buffers are the caller's by the standard.
    unsafe { variant.run(Call::NeighborAlltoall(&from, &to, among)) }
}

fn alltoallv(variant: Variant, from: LateBlocks, to: LateBlocks) -> Result<()> {
    let among = variant.comm().neighbors()?;
    let (at, counts, displs, datatype) = from;
    let names = ["sendbuf", "sendcounts", "sdispls", "sendtype"];
    // SAFETY: the arrays have an element per destination by the standard.
    let from = unsafe { blocks(at, counts, displs, datatype, among.destinations.len(), names)? };
    let (at, counts, displs, datatype) = to;
    let names = ["recvbuf", "recvcounts", "rdispls", "recvtype"];
    // SAFETY: the arrays have an element per source by the standard.
    let to = unsafe { blocks(at, counts, displs, datatype, among.sources.len(), names)? };
    // SAFETY: both buffers are the caller's by the standard.
    unsafe { variant.run(Call::NeighborAlltoallv(&from, &to, among)) }
}

fn alltoallw(variant: Variant, from: LateTyped, to: LateTyped) -> Result<()> {
    let among = variant.comm().neighbors()?;
    let (mut send_room, mut recv_room) = (Vec::new(), Vec::new());
    let names = ["sendbuf", "sendcounts", "sdispls", "sendtypes"];
    // SAFETY: the arrays have an element per destination by the standard.
    let from = unsafe { typed_blocks(from.0, from.1, among.destinations.len(), &mut send_room, names)? };
    let names = ["recvbuf", "recvcounts", "rdispls", "recvtypes"];
    // SAFETY: the arrays have an element per source by the standard.
    let to = unsafe { typed_blocks(to.0, to.1, among.sources.len(), &mut recv_room, names)? };
    // SAFETY: both buffers are the caller's by the standard.
    unsafe { variant.run(Call::NeighborAlltoallw(&from, &to, among)) }
}

/// A buffer; MPI_IN_PLACE has no meaning among neighbours (MPI 5.0 §8.6).
fn whole((at, count, datatype): Whole, argument: &'static str) -> Result<Data<'static>> {
    not_in_place(at, argument)?;
    data(at, count, datatype, argument)
}
