//! Collectives that move data. MPI 5.0 §6.3 to §6.8. The functions below the rows check the arguments that the blocking,
//! the nonblocking and the persistent function have in common.

use super::coll_variant::Variant;
use super::kinds;
use super::kinds::{
    Array, ArrayOfCounts, Buffer, Comm, Committed, ConstBuffer, Count, CountArray, LateType, Rank, Role, Signed, apart,
    blocks, data, in_place, in_place_on, late, not_in_place, role, typed_blocks,
};
use crate::comm::Communicator;
use crate::data::{Data, Source};
use crate::datatype::Datatype as Type;
use crate::error::Result;
use crate::framework::coll::Call;
use alloc::vec::Vec;

rows! {
    /// Returns when all processes have called it. MPI 5.0 §6.3.
    fn Barrier(comm: Comm) [] => {
        barrier(Variant::Blocking(comm))
    }

    /// The root's data to all. MPI 5.0 §6.4.
    fn Bcast(buffer: Buffer, count: Count, datatype: Committed, root: Rank, comm: Comm) [large] => {
        bcast(Variant::Blocking(comm), buffer, count, datatype, root)
    }

    /// Equal blocks from all to the root. MPI 5.0 §6.5.
    fn Gather(
        sendbuf: ConstBuffer, sendcount: Signed, sendtype: LateType, recvbuf: Buffer, recvcount: Signed,
        recvtype: LateType, root: Rank, comm: Comm,
    ) [large] => {
        gather(Variant::Blocking(comm), (sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype), root)
    }

    /// Blocks of any size from all to the root. MPI 5.0 §6.5.
    fn Gatherv(
        sendbuf: ConstBuffer, sendcount: Signed, sendtype: LateType, recvbuf: Buffer, recvcounts: ArrayOfCounts,
        displs: ArrayOfCounts, recvtype: LateType, root: Rank, comm: Comm,
    ) [large] => {
        gatherv(Variant::Blocking(comm), (sendbuf, sendcount, sendtype), (recvbuf, recvcounts, displs, recvtype), root)
    }

    /// Equal blocks of the root's data to all. MPI 5.0 §6.6.
    fn Scatter(
        sendbuf: ConstBuffer, sendcount: Signed, sendtype: LateType, recvbuf: Buffer, recvcount: Signed,
        recvtype: LateType, root: Rank, comm: Comm,
    ) [large] => {
        scatter(Variant::Blocking(comm), (sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype), root)
    }

    /// Blocks of any size of the root's data to all. MPI 5.0 §6.6.
    fn Scatterv(
        sendbuf: ConstBuffer, sendcounts: ArrayOfCounts, displs: ArrayOfCounts, sendtype: LateType, recvbuf: Buffer,
        recvcount: Signed, recvtype: LateType, root: Rank, comm: Comm,
    ) [large] => {
        scatterv(Variant::Blocking(comm), (sendbuf, sendcounts, displs, sendtype), (recvbuf, recvcount, recvtype), root)
    }

    /// Equal blocks from all to all. MPI 5.0 §6.7.
    fn Allgather(
        sendbuf: ConstBuffer, sendcount: Signed, sendtype: LateType, recvbuf: Buffer, recvcount: Count,
        recvtype: Committed, comm: Comm,
    ) [large] => {
        allgather(Variant::Blocking(comm), (sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype))
    }

    /// Blocks of any size from all to all. MPI 5.0 §6.7.
    fn Allgatherv(
        sendbuf: ConstBuffer, sendcount: Signed, sendtype: LateType, recvbuf: Buffer, recvcounts: ArrayOfCounts,
        displs: ArrayOfCounts, recvtype: LateType, comm: Comm,
    ) [large] => {
        allgatherv(Variant::Blocking(comm), (sendbuf, sendcount, sendtype), (recvbuf, recvcounts, displs, recvtype))
    }

    /// From each to each a block of its own, all equal. MPI 5.0 §6.8.
    fn Alltoall(
        sendbuf: ConstBuffer, sendcount: Signed, sendtype: LateType, recvbuf: Buffer, recvcount: Count,
        recvtype: Committed, comm: Comm,
    ) [large] => {
        alltoall(Variant::Blocking(comm), (sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype))
    }

    /// From each to each a block of its own, of any size. MPI 5.0 §6.8.
    fn Alltoallv(
        sendbuf: ConstBuffer, sendcounts: ArrayOfCounts, sdispls: ArrayOfCounts, sendtype: LateType, recvbuf: Buffer,
        recvcounts: ArrayOfCounts, rdispls: ArrayOfCounts, recvtype: LateType, comm: Comm,
    ) [large] => {
        let from = (sendbuf, sendcounts, sdispls, sendtype);
        alltoallv(Variant::Blocking(comm), from, (recvbuf, recvcounts, rdispls, recvtype))
    }

    /// From each to each a block of its own, of any size and datatype. MPI 5.0 §6.8.
    fn Alltoallw(
        sendbuf: ConstBuffer, sendcounts: ArrayOfCounts, sdispls: ArrayOfCounts, sendtypes: Array<usize>, recvbuf: Buffer,
        recvcounts: ArrayOfCounts, rdispls: ArrayOfCounts, recvtypes: Array<usize>, comm: Comm,
    ) [large] => {
        let from = (sendbuf, (sendcounts, sdispls, sendtypes));
        alltoallw(Variant::Blocking(comm), from, (recvbuf, (recvcounts, rdispls, recvtypes)))
    }
}

/// Buffer, count and datatype that count on some ranks or without MPI_IN_PLACE only.
pub(super) type LateData = (*mut u8, i64, usize);
/// Buffer, counts, displacements and datatype of a v variant.
pub(super) type LateBlocks = (*mut u8, CountArray, CountArray, usize);
/// Buffer, count and datatype.
pub(super) type Whole = (*mut u8, usize, &'static Type);
/// Buffer, counts, displacements and datatypes of a w variant.
pub(super) type LateTyped = (*mut u8, (CountArray, CountArray, *const usize));

#[inline(always)]
pub(super) fn barrier(variant: Variant) -> Result<()> {
    // SAFETY: there is no data.
    unsafe { variant.run(Call::Barrier) }
}

#[inline(always)]
pub(super) fn bcast(variant: Variant, at: *mut u8, count: usize, datatype: &'static Type, root: i32) -> Result<()> {
    let root = kinds::root(root, variant.comm())?;
    not_in_place(at, "buffer")?;
    let data = data(at, count, datatype, "buffer")?;
    // SAFETY: the buffer is readable at the root and writable elsewhere by the standard.
    unsafe { variant.run(Call::Bcast(&data, root)) }
}

pub(super) fn gather(variant: Variant, from: LateData, to: LateData, root: i32) -> Result<()> {
    let comm = variant.comm();
    let root = kinds::root(root, comm)?;
    let (from, to) = match role(root, comm) {
        Role::Root => {
            let to = target_only(to)?;
            (root_source(comm, from, [blocks_of(comm, &to)])?, Some(to))
        }
        Role::Other => (Source::From(source_only(from)?), None),
        Role::Beside => (Source::InPlace, None),
    };
    // SAFETY: the buffers are the caller's by the standard.
    unsafe { variant.run(Call::Gather(from, to.as_ref(), root)) }
}

pub(super) fn gatherv(variant: Variant, from: LateData, to: LateBlocks, root: i32) -> Result<()> {
    let comm = variant.comm();
    let root = kinds::root(root, comm)?;
    let (from, to) = match role(root, comm) {
        Role::Root => {
            let (at, counts, displs, datatype) = to;
            let names = ["recvbuf", "recvcounts", "displs", "recvtype"];
            // SAFETY: the arrays have an element per peer by the standard.
            let to = unsafe { blocks(at, counts, displs, datatype, comm.peer_count(), names)? };
            (root_source(comm, from, (0..comm.peer_count()).map(|rank| to.block(rank)))?, Some(to))
        }
        Role::Other => (Source::From(source_only(from)?), None),
        Role::Beside => (Source::InPlace, None),
    };
    // SAFETY: the buffers are the caller's by the standard.
    unsafe { variant.run(Call::Gatherv(from, to.as_ref(), root)) }
}

pub(super) fn scatter(variant: Variant, from: LateData, to: LateData, root: i32) -> Result<()> {
    let comm = variant.comm();
    let root = kinds::root(root, comm)?;
    let (from, to) = match role(root, comm) {
        Role::Root => {
            let from = source_only(from)?;
            (Some(from), root_target(comm, to, [blocks_of(comm, &from)])?)
        }
        Role::Other => (None, Some(target_only(to)?)),
        Role::Beside => (None, None),
    };
    // SAFETY: the buffers are the caller's by the standard.
    unsafe { variant.run(Call::Scatter(from.as_ref(), to.as_ref(), root)) }
}

pub(super) fn scatterv(variant: Variant, from: LateBlocks, to: LateData, root: i32) -> Result<()> {
    let comm = variant.comm();
    let root = kinds::root(root, comm)?;
    let (from, to) = match role(root, comm) {
        Role::Root => {
            let (at, counts, displs, datatype) = from;
            let names = ["sendbuf", "sendcounts", "displs", "sendtype"];
            // SAFETY: the arrays have an element per peer by the standard.
            let from = unsafe { blocks(at, counts, displs, datatype, comm.peer_count(), names)? };
            (Some(from), root_target(comm, to, (0..comm.peer_count()).map(|rank| from.block(rank)))?)
        }
        Role::Other => (None, Some(target_only(to)?)),
        Role::Beside => (None, None),
    };
    // SAFETY: the buffers are the caller's by the standard.
    unsafe { variant.run(Call::Scatterv(from.as_ref(), to.as_ref(), root)) }
}

pub(super) fn allgather(variant: Variant, from: LateData, to: Whole) -> Result<()> {
    let to = whole(to)?;
    let from = source(variant.comm(), from, [blocks_of(variant.comm(), &to)])?;
    // SAFETY: both buffers are the caller's by the standard.
    unsafe { variant.run(Call::Allgather(from, &to)) }
}

pub(super) fn allgatherv(variant: Variant, from: LateData, to: LateBlocks) -> Result<()> {
    let comm = variant.comm();
    let (at, counts, displs, datatype) = to;
    let names = ["recvbuf", "recvcounts", "displs", "recvtype"];
    // SAFETY: the arrays have an element per peer by the standard.
    let to = unsafe { blocks(at, counts, displs, datatype, comm.peer_count(), names)? };
    let from = source(comm, from, (0..comm.peer_count()).map(|rank| to.block(rank)))?;
    // SAFETY: both buffers are the caller's by the standard.
    unsafe { variant.run(Call::Allgatherv(from, &to)) }
}

pub(super) fn alltoall(variant: Variant, from: LateData, to: Whole) -> Result<()> {
    let to = whole(to)?;
    let from = source(variant.comm(), from, [])?;
    if let Source::From(from) = &from {
        apart(&blocks_of(variant.comm(), from), &blocks_of(variant.comm(), &to))?;
    }
    // SAFETY: both buffers are the caller's by the standard.
    unsafe { variant.run(Call::Alltoall(from, &to)) }
}

pub(super) fn alltoallv(variant: Variant, from: LateBlocks, to: LateBlocks) -> Result<()> {
    let peers = variant.comm().peer_count();
    let (at, counts, displs, datatype) = to;
    let names = ["recvbuf", "recvcounts", "rdispls", "recvtype"];
    // SAFETY: the arrays have an element per peer by the standard.
    let to = unsafe { blocks(at, counts, displs, datatype, peers, names)? };
    let (at, counts, displs, datatype) = from;
    let names = ["sendbuf", "sendcounts", "sdispls", "sendtype"];
    let from = match in_place_on(variant.comm(), at, "sendbuf")? {
        true => None,
        // SAFETY: the arrays have an element per peer by the standard.
        false => Some(unsafe { blocks(at, counts, displs, datatype, peers, names)? }),
    };
    // SAFETY: both buffers are the caller's by the standard.
    unsafe { variant.run(Call::Alltoallv(from.as_ref(), &to)) }
}

pub(super) fn alltoallw(variant: Variant, from: LateTyped, to: LateTyped) -> Result<()> {
    let peers = variant.comm().peer_count();
    let (mut send_room, mut recv_room) = (Vec::with_capacity(peers), Vec::with_capacity(peers));
    let names = ["recvbuf", "recvcounts", "rdispls", "recvtypes"];
    // SAFETY: the arrays have an element per peer by the standard.
    let to = unsafe { typed_blocks(to.0, to.1, peers, &mut recv_room, names)? };
    let names = ["sendbuf", "sendcounts", "sdispls", "sendtypes"];
    let from = match in_place_on(variant.comm(), from.0, "sendbuf")? {
        true => None,
        // SAFETY: the arrays have an element per peer by the standard.
        false => Some(unsafe { typed_blocks(from.0, from.1, peers, &mut send_room, names)? }),
    };
    // SAFETY: both buffers are the caller's by the standard.
    unsafe { variant.run(Call::Alltoallw(from.as_ref(), &to)) }
}

/// A receive buffer that may not be MPI_IN_PLACE.
fn whole((at, count, datatype): Whole) -> Result<Data<'static>> {
    not_in_place(at, "recvbuf")?;
    data(at, count, datatype, "recvbuf")
}

/// The blocks of all processes, of each of which `block` is one, one behind the other.
fn blocks_of<'a>(comm: &Communicator, block: &Data<'a>) -> Data<'a> {
    Data { count: block.count.saturating_mul(comm.peer_count()), ..*block }
}

/// The send buffer of the root, which an intercommunicator's does not have; `to` is where it receives.
fn root_source<'a>(
    comm: &Communicator,
    from: LateData,
    to: impl IntoIterator<Item = Data<'a>>,
) -> Result<Source<'static>> {
    if comm.is_inter() {
        return Ok(Source::InPlace);
    }
    source(comm, from, to)
}

/// The send buffer of a rank that may say MPI_IN_PLACE; `to` is where it receives.
fn source<'a>(comm: &Communicator, from: LateData, to: impl IntoIterator<Item = Data<'a>>) -> Result<Source<'static>> {
    if in_place_on(comm, from.0, "sendbuf")? {
        return Ok(Source::InPlace);
    }
    let from = source_only(from)?;
    to.into_iter().try_for_each(|to| apart(&from, &to))?;
    Ok(Source::From(from))
}

fn source_only((at, count, datatype): LateData) -> Result<Data<'static>> {
    late(at, count, datatype, ["sendbuf", "sendcount", "sendtype"])
}

/// The receive buffer of a root that may say MPI_IN_PLACE, and has none on an intercommunicator; `from` is what it sends.
fn root_target<'a>(
    comm: &Communicator,
    to: LateData,
    from: impl IntoIterator<Item = Data<'a>>,
) -> Result<Option<Data<'static>>> {
    if comm.is_inter() || in_place(to.0) {
        return Ok(None);
    }
    let to = target_only(to)?;
    from.into_iter().try_for_each(|from| apart(&from, &to))?;
    Ok(Some(to))
}

fn target_only((at, count, datatype): LateData) -> Result<Data<'static>> {
    late(at, count, datatype, ["recvbuf", "recvcount", "recvtype"])
}
