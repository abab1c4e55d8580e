//! Blocking collectives that move data. MPI 5.0 §6.3 to §6.8.

use super::kinds;
use super::kinds::{
    Array, Buffer, Comm, Committed, ConstBuffer, Count, Counts, LateType, Rank, Signed, blocks, data, distinct,
    in_place, intra, late, not_in_place, typed_blocks,
};
use crate::data::{Data, Source};
use crate::error::Result;
use crate::framework::coll::Function;
use alloc::vec::Vec;

rows! {
    /// Returns when all processes have called it. MPI 5.0 §6.3.
    fn Barrier(comm: Comm) [] => {
        intra(comm)?;
        comm.coll().of(Function::Barrier)?.barrier(comm)
    }

    /// The root's data to all. MPI 5.0 §6.4.
    fn Bcast(buffer: Buffer, count: Count, datatype: Committed, root: Rank, comm: Comm) [large] => {
        intra(comm)?;
        let root = kinds::root(root, comm)?;
        not_in_place(buffer, "buffer")?;
        let data = data(buffer, count, datatype, "buffer")?;
        // SAFETY: the buffer is readable at the root and writable elsewhere by the standard.
        unsafe { comm.coll().of(Function::Bcast)?.bcast(&data, root, comm) }
    }

    /// Equal blocks from all to the root. MPI 5.0 §6.5.
    fn Gather(
        sendbuf: ConstBuffer, sendcount: Signed, sendtype: LateType, recvbuf: Buffer, recvcount: Signed,
        recvtype: LateType, root: Rank, comm: Comm,
    ) [large] => {
        intra(comm)?;
        let root = kinds::root(root, comm)?;
        let module = comm.coll().of(Function::Gather)?;
        if comm.rank as usize != root {
            let from = late(sendbuf, sendcount, sendtype, ["sendbuf", "sendcount", "sendtype"])?;
            // SAFETY: the send buffer is readable by the standard.
            return unsafe { module.gather(Source::From(from), None, root, comm) };
        }
        let to = late(recvbuf, recvcount, recvtype, ["recvbuf", "recvcount", "recvtype"])?;
        let from = source(sendbuf, sendcount, sendtype, &to)?;
        // SAFETY: both buffers are the caller's by the standard.
        unsafe { module.gather(from, Some(&to), root, comm) }
    }

    /// Blocks of any size from all to the root. MPI 5.0 §6.5.
    fn Gatherv(
        sendbuf: ConstBuffer, sendcount: Signed, sendtype: LateType, recvbuf: Buffer, recvcounts: Counts,
        displs: Counts, recvtype: LateType, root: Rank, comm: Comm,
    ) [large] => {
        intra(comm)?;
        let root = kinds::root(root, comm)?;
        let module = comm.coll().of(Function::Gatherv)?;
        if comm.rank as usize != root {
            let from = late(sendbuf, sendcount, sendtype, ["sendbuf", "sendcount", "sendtype"])?;
            // SAFETY: the send buffer is readable by the standard.
            return unsafe { module.gatherv(Source::From(from), None, root, comm) };
        }
        let names = ["recvbuf", "recvcounts", "displs", "recvtype"];
        // SAFETY: the arrays have an element per rank by the standard.
        let to = unsafe { blocks(recvbuf, recvcounts, displs, recvtype, comm.size(), names)? };
        let from = source(sendbuf, sendcount, sendtype, &to.block(root))?;
        // SAFETY: both buffers are the caller's by the standard.
        unsafe { module.gatherv(from, Some(&to), root, comm) }
    }

    /// Equal blocks of the root's data to all. MPI 5.0 §6.6.
    fn Scatter(
        sendbuf: ConstBuffer, sendcount: Signed, sendtype: LateType, recvbuf: Buffer, recvcount: Signed,
        recvtype: LateType, root: Rank, comm: Comm,
    ) [large] => {
        intra(comm)?;
        let root = kinds::root(root, comm)?;
        let module = comm.coll().of(Function::Scatter)?;
        if comm.rank as usize != root {
            let to = late(recvbuf, recvcount, recvtype, ["recvbuf", "recvcount", "recvtype"])?;
            // SAFETY: the receive buffer is writable by the standard.
            return unsafe { module.scatter(None, Some(&to), root, comm) };
        }
        let from = late(sendbuf, sendcount, sendtype, ["sendbuf", "sendcount", "sendtype"])?;
        let to = target(recvbuf, recvcount, recvtype, &from)?;
        // SAFETY: both buffers are the caller's by the standard.
        unsafe { module.scatter(Some(&from), to.as_ref(), root, comm) }
    }

    /// Blocks of any size of the root's data to all. MPI 5.0 §6.6.
    fn Scatterv(
        sendbuf: ConstBuffer, sendcounts: Counts, displs: Counts, sendtype: LateType, recvbuf: Buffer,
        recvcount: Signed, recvtype: LateType, root: Rank, comm: Comm,
    ) [large] => {
        intra(comm)?;
        let root = kinds::root(root, comm)?;
        let module = comm.coll().of(Function::Scatterv)?;
        if comm.rank as usize != root {
            let to = late(recvbuf, recvcount, recvtype, ["recvbuf", "recvcount", "recvtype"])?;
            // SAFETY: the receive buffer is writable by the standard.
            return unsafe { module.scatterv(None, Some(&to), root, comm) };
        }
        let names = ["sendbuf", "sendcounts", "displs", "sendtype"];
        // SAFETY: the arrays have an element per rank by the standard.
        let from = unsafe { blocks(sendbuf, sendcounts, displs, sendtype, comm.size(), names)? };
        let to = target(recvbuf, recvcount, recvtype, &from.block(root))?;
        // SAFETY: both buffers are the caller's by the standard.
        unsafe { module.scatterv(Some(&from), to.as_ref(), root, comm) }
    }

    /// Equal blocks from all to all. MPI 5.0 §6.7.
    fn Allgather(
        sendbuf: ConstBuffer, sendcount: Signed, sendtype: LateType, recvbuf: Buffer, recvcount: Count,
        recvtype: Committed, comm: Comm,
    ) [large] => {
        intra(comm)?;
        not_in_place(recvbuf, "recvbuf")?;
        let to = data(recvbuf, recvcount, recvtype, "recvbuf")?;
        let from = source(sendbuf, sendcount, sendtype, &to)?;
        // SAFETY: both buffers are the caller's by the standard.
        unsafe { comm.coll().of(Function::Allgather)?.allgather(from, &to, comm) }
    }

    /// Blocks of any size from all to all. MPI 5.0 §6.7.
    fn Allgatherv(
        sendbuf: ConstBuffer, sendcount: Signed, sendtype: LateType, recvbuf: Buffer, recvcounts: Counts,
        displs: Counts, recvtype: LateType, comm: Comm,
    ) [large] => {
        intra(comm)?;
        let names = ["recvbuf", "recvcounts", "displs", "recvtype"];
        // SAFETY: the arrays have an element per rank by the standard.
        let to = unsafe { blocks(recvbuf, recvcounts, displs, recvtype, comm.size(), names)? };
        let from = source(sendbuf, sendcount, sendtype, &to.block(comm.rank as usize))?;
        // SAFETY: both buffers are the caller's by the standard.
        unsafe { comm.coll().of(Function::Allgatherv)?.allgatherv(from, &to, comm) }
    }

    /// From each to each a block of its own, all equal. MPI 5.0 §6.8.
    fn Alltoall(
        sendbuf: ConstBuffer, sendcount: Signed, sendtype: LateType, recvbuf: Buffer, recvcount: Count,
        recvtype: Committed, comm: Comm,
    ) [large] => {
        intra(comm)?;
        not_in_place(recvbuf, "recvbuf")?;
        let to = data(recvbuf, recvcount, recvtype, "recvbuf")?;
        let from = source(sendbuf, sendcount, sendtype, &to)?;
        // SAFETY: both buffers are the caller's by the standard.
        unsafe { comm.coll().of(Function::Alltoall)?.alltoall(from, &to, comm) }
    }

    /// From each to each a block of its own, of any size. MPI 5.0 §6.8.
    fn Alltoallv(
        sendbuf: ConstBuffer, sendcounts: Counts, sdispls: Counts, sendtype: LateType, recvbuf: Buffer,
        recvcounts: Counts, rdispls: Counts, recvtype: LateType, comm: Comm,
    ) [large] => {
        intra(comm)?;
        let ranks = comm.size();
        let names = ["recvbuf", "recvcounts", "rdispls", "recvtype"];
        // SAFETY: the arrays have an element per rank by the standard.
        let to = unsafe { blocks(recvbuf, recvcounts, rdispls, recvtype, ranks, names)? };
        let names = ["sendbuf", "sendcounts", "sdispls", "sendtype"];
        let from = match in_place(sendbuf) {
            true => None,
            // SAFETY: the arrays have an element per rank by the standard.
            false => Some(unsafe { blocks(sendbuf, sendcounts, sdispls, sendtype, ranks, names)? }),
        };
        // SAFETY: both buffers are the caller's by the standard.
        unsafe { comm.coll().of(Function::Alltoallv)?.alltoallv(from.as_ref(), &to, comm) }
    }

    /// From each to each a block of its own, of any size and datatype. MPI 5.0 §6.8.
    fn Alltoallw(
        sendbuf: ConstBuffer, sendcounts: Counts, sdispls: Counts, sendtypes: Array<usize>, recvbuf: Buffer,
        recvcounts: Counts, rdispls: Counts, recvtypes: Array<usize>, comm: Comm,
    ) [large] => {
        intra(comm)?;
        let ranks = comm.size();
        let (mut send_room, mut recv_room) = (Vec::with_capacity(ranks), Vec::with_capacity(ranks));
        let arrays = (recvcounts, rdispls, recvtypes);
        let names = ["recvbuf", "recvcounts", "rdispls", "recvtypes"];
        // SAFETY: the arrays have an element per rank by the standard.
        let to = unsafe { typed_blocks(recvbuf, arrays, ranks, &mut recv_room, names)? };
        let arrays = (sendcounts, sdispls, sendtypes);
        let names = ["sendbuf", "sendcounts", "sdispls", "sendtypes"];
        let from = match in_place(sendbuf) {
            true => None,
            // SAFETY: the arrays have an element per rank by the standard.
            false => Some(unsafe { typed_blocks(sendbuf, arrays, ranks, &mut send_room, names)? }),
        };
        // SAFETY: both buffers are the caller's by the standard.
        unsafe { comm.coll().of(Function::Alltoallw)?.alltoallw(from.as_ref(), &to, comm) }
    }
}

/// The send buffer of a rank that may say MPI_IN_PLACE; `to` is where its own block goes.
fn source(at: *mut u8, count: i64, datatype: usize, to: &Data<'_>) -> Result<Source<'static>> {
    if in_place(at) {
        return Ok(Source::InPlace);
    }
    let from = late(at, count, datatype, ["sendbuf", "sendcount", "sendtype"])?;
    distinct(&from, to)?;
    Ok(Source::From(from))
}

/// The receive buffer of a root that may say MPI_IN_PLACE; `from` is where its own block lies.
fn target(at: *mut u8, count: i64, datatype: usize, from: &Data<'_>) -> Result<Option<Data<'static>>> {
    if in_place(at) {
        return Ok(None);
    }
    let to = late(at, count, datatype, ["recvbuf", "recvcount", "recvtype"])?;
    distinct(from, &to)?;
    Ok(Some(to))
}
