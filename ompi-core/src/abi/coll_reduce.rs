//! Blocking reductions and scans. MPI 5.0 §6.9 to §6.11.

use super::kinds;
use super::kinds::{
    Buffer, Comm, Committed, ConstBuffer, Count, Counts, Op, Rank, data, distinct, in_place, intra, not_in_place,
    not_negative,
};
use crate::data::{Data, Source};
use crate::datatype::Datatype as Type;
use crate::error::Result;
use crate::framework::coll::Function;

rows! {
    /// Combines everybody's data at the root. MPI 5.0 §6.9.1.
    fn Reduce(
        sendbuf: ConstBuffer, recvbuf: Buffer, count: Count, datatype: Committed, op: Op, root: Rank, comm: Comm,
    ) [large] => {
        intra(comm)?;
        let root = kinds::root(root, comm)?;
        let module = comm.coll().of(Function::Reduce)?;
        if comm.rank as usize != root {
            not_in_place(sendbuf, "sendbuf")?;
            let from = data(sendbuf, count, datatype, "sendbuf")?;
            // SAFETY: the send buffer is readable by the standard.
            return unsafe { module.reduce(Source::From(from), None, &op, root, comm) };
        }
        let (from, to) = buffers(sendbuf, recvbuf, count, datatype)?;
        // SAFETY: both buffers are the caller's by the standard.
        unsafe { module.reduce(from, Some(&to), &op, root, comm) }
    }

    /// Combines everybody's data everywhere. MPI 5.0 §6.9.6.
    fn Allreduce(
        sendbuf: ConstBuffer, recvbuf: Buffer, count: Count, datatype: Committed, op: Op, comm: Comm,
    ) [large] => {
        intra(comm)?;
        let (from, to) = buffers(sendbuf, recvbuf, count, datatype)?;
        // SAFETY: both buffers are the caller's by the standard.
        unsafe { comm.coll().of(Function::Allreduce)?.allreduce(from, &to, &op, comm) }
    }

    /// Combines two local buffers. MPI 5.0 §6.9.7.
    fn Reduce_local(inbuf: ConstBuffer, inoutbuf: Buffer, count: Count, datatype: Committed, op: Op) [large] => {
        not_in_place(inbuf, "inbuf")?;
        not_in_place(inoutbuf, "inoutbuf")?;
        let from = data(inbuf, count, datatype, "inbuf")?;
        let to = data(inoutbuf, count, datatype, "inoutbuf")?;
        distinct(&from, &to)?;
        op.check(datatype)?;
        // SAFETY: both buffers are the caller's by the standard.
        unsafe { op.reduce(inbuf, inoutbuf, count, datatype) }
    }

    /// Combines and scatters the result in equal blocks. MPI 5.0 §6.10.1.
    fn Reduce_scatter_block(
        sendbuf: ConstBuffer, recvbuf: Buffer, recvcount: Count, datatype: Committed, op: Op, comm: Comm,
    ) [large] => {
        intra(comm)?;
        not_in_place(recvbuf, "recvbuf")?;
        let to = data(recvbuf, recvcount, datatype, "recvbuf")?;
        let from = source(sendbuf, recvcount.saturating_mul(comm.size()), &to)?;
        // SAFETY: both buffers are the caller's by the standard.
        unsafe { comm.coll().of(Function::ReduceScatterBlock)?.reduce_scatter_block(from, &to, &op, comm) }
    }

    /// Combines and scatters the result in blocks of any size. MPI 5.0 §6.10.2.
    fn Reduce_scatter(
        sendbuf: ConstBuffer, recvbuf: Buffer, recvcounts: Counts, datatype: Committed, op: Op, comm: Comm,
    ) [large] => {
        intra(comm)?;
        not_in_place(recvbuf, "recvbuf")?;
        // SAFETY: the array has an element per rank by the standard.
        let counts = unsafe { not_negative(recvcounts, comm.size(), "recvcounts")? };
        let total = (0..comm.size()).map(|rank| counts.count(rank)).sum();
        let to = data(recvbuf, counts.count(comm.rank as usize), datatype, "recvbuf")?;
        let from = source(sendbuf, total, &to)?;
        // SAFETY: both buffers are the caller's by the standard.
        unsafe { comm.coll().of(Function::ReduceScatter)?.reduce_scatter(from, &to, counts, &op, comm) }
    }

    /// Combines the data of the ranks up to this one. MPI 5.0 §6.11.1.
    fn Scan(sendbuf: ConstBuffer, recvbuf: Buffer, count: Count, datatype: Committed, op: Op, comm: Comm) [large] => {
        intra(comm)?;
        let (from, to) = buffers(sendbuf, recvbuf, count, datatype)?;
        // SAFETY: both buffers are the caller's by the standard.
        unsafe { comm.coll().of(Function::Scan)?.scan(from, &to, &op, comm) }
    }

    /// Combines the data of the ranks below this one. MPI 5.0 §6.11.2.
    fn Exscan(
        sendbuf: ConstBuffer, recvbuf: Buffer, count: Count, datatype: Committed, op: Op, comm: Comm,
    ) [large] => {
        intra(comm)?;
        let (from, to) = buffers(sendbuf, recvbuf, count, datatype)?;
        // SAFETY: both buffers are the caller's by the standard.
        unsafe { comm.coll().of(Function::Exscan)?.exscan(from, &to, &op, comm) }
    }
}

/// The buffers of a reduction whose result is as long as each contribution.
fn buffers<'a>(from: *mut u8, to: *mut u8, count: usize, datatype: &'a Type) -> Result<(Source<'a>, Data<'a>)> {
    not_in_place(to, "recvbuf")?;
    let to = data(to, count, datatype, "recvbuf")?;
    Ok((source(from, count, &to)?, to))
}

/// The contribution, unless it lies in the receive buffer.
fn source<'a>(from: *mut u8, count: usize, to: &Data<'a>) -> Result<Source<'a>> {
    if in_place(from) {
        return Ok(Source::InPlace);
    }
    let from = data(from, count, to.datatype, "sendbuf")?;
    distinct(&from, to)?;
    Ok(Source::From(from))
}
