//! Reductions and scans. MPI 5.0 §6.9 to §6.11. The functions below the rows check the arguments that the blocking, the
//! nonblocking and the persistent function have in common.

use super::coll_variant::Variant;
use super::kinds;
use super::kinds::{
    ArrayOfCounts, Buffer, Comm, Committed, ConstBuffer, Count, CountArray, Op, Rank, Role, data, distinct,
    in_place_on, intra, not_in_place, not_negative, role,
};
use crate::comm::Communicator;
use crate::data::{Data, Source};
use crate::datatype::Datatype as Type;
use crate::error::Result;
use crate::framework::coll::Call;
use crate::op::Op as Operation;

rows! {
    /// Combines everybody's data at the root. MPI 5.0 §6.9.1.
    fn Reduce(
        sendbuf: ConstBuffer, recvbuf: Buffer, count: Count, datatype: Committed, op: Op, root: Rank, comm: Comm,
    ) [large] => {
        reduce(Variant::Blocking(comm), sendbuf, recvbuf, (count, datatype), &op, root)
    }

    /// Combines everybody's data everywhere. MPI 5.0 §6.9.6.
    fn Allreduce(
        sendbuf: ConstBuffer, recvbuf: Buffer, count: Count, datatype: Committed, op: Op, comm: Comm,
    ) [large] => {
        allreduce(Variant::Blocking(comm), sendbuf, recvbuf, (count, datatype), &op)
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
        reduce_scatter_block(Variant::Blocking(comm), sendbuf, recvbuf, (recvcount, datatype), &op)
    }

    /// Combines and scatters the result in blocks of any size. MPI 5.0 §6.10.2.
    fn Reduce_scatter(
        sendbuf: ConstBuffer, recvbuf: Buffer, recvcounts: ArrayOfCounts, datatype: Committed, op: Op, comm: Comm,
    ) [large] => {
        reduce_scatter(Variant::Blocking(comm), sendbuf, recvbuf, (recvcounts, datatype), &op)
    }

    /// Combines the data of the ranks up to this one. MPI 5.0 §6.11.1.
    fn Scan(sendbuf: ConstBuffer, recvbuf: Buffer, count: Count, datatype: Committed, op: Op, comm: Comm) [large] => {
        scan(Variant::Blocking(comm), sendbuf, recvbuf, (count, datatype), &op)
    }

    /// Combines the data of the ranks below this one. MPI 5.0 §6.11.2.
    fn Exscan(
        sendbuf: ConstBuffer, recvbuf: Buffer, count: Count, datatype: Committed, op: Op, comm: Comm,
    ) [large] => {
        exscan(Variant::Blocking(comm), sendbuf, recvbuf, (count, datatype), &op)
    }
}

/// Count and datatype.
pub(super) type Elements = (usize, &'static Type);

pub(super) fn reduce(
    variant: Variant,
    sendbuf: *mut u8,
    recvbuf: *mut u8,
    elements: Elements,
    op: &Operation,
    root: i32,
) -> Result<()> {
    let comm = variant.comm();
    let root = kinds::root(root, comm)?;
    let (from, to) = match role(root, comm) {
        Role::Root if comm.is_inter() => {
            not_in_place(recvbuf, "recvbuf")?;
            (Source::InPlace, Some(data(recvbuf, elements.0, elements.1, "recvbuf")?))
        }
        Role::Root => {
            let (from, to) = buffers(comm, sendbuf, recvbuf, elements)?;
            (from, Some(to))
        }
        Role::Other => {
            not_in_place(sendbuf, "sendbuf")?;
            (Source::From(data(sendbuf, elements.0, elements.1, "sendbuf")?), None)
        }
        Role::Beside => (Source::InPlace, None),
    };
    // SAFETY: the buffers are the caller's by the standard.
    unsafe { variant.run(Call::Reduce(from, to.as_ref(), op, root)) }
}

#[inline(always)]
pub(super) fn allreduce(
    variant: Variant,
    sendbuf: *mut u8,
    recvbuf: *mut u8,
    elements: Elements,
    op: &Operation,
) -> Result<()> {
    let (from, to) = buffers(variant.comm(), sendbuf, recvbuf, elements)?;
    // SAFETY: both buffers are the caller's by the standard.
    unsafe { variant.run(Call::Allreduce(from, &to, op)) }
}

pub(super) fn reduce_scatter_block(
    variant: Variant,
    sendbuf: *mut u8,
    recvbuf: *mut u8,
    (recvcount, datatype): Elements,
    op: &Operation,
) -> Result<()> {
    not_in_place(recvbuf, "recvbuf")?;
    let to = data(recvbuf, recvcount, datatype, "recvbuf")?;
    let from = source(variant.comm(), sendbuf, recvcount.saturating_mul(variant.comm().size()), &to)?;
    // SAFETY: both buffers are the caller's by the standard.
    unsafe { variant.run(Call::ReduceScatterBlock(from, &to, op)) }
}

pub(super) fn reduce_scatter(
    variant: Variant,
    sendbuf: *mut u8,
    recvbuf: *mut u8,
    (recvcounts, datatype): (CountArray, &'static Type),
    op: &Operation,
) -> Result<()> {
    let comm = variant.comm();
    not_in_place(recvbuf, "recvbuf")?;
    // SAFETY: the array has an element per rank by the standard.
    let counts = unsafe { not_negative(recvcounts, comm.size(), "recvcounts")? };
    let total = (0..comm.size()).map(|rank| counts.count(rank)).fold(0, usize::saturating_add);
    let to = data(recvbuf, counts.count(comm.rank as usize), datatype, "recvbuf")?;
    let from = source(comm, sendbuf, total, &to)?;
    // SAFETY: both buffers are the caller's by the standard.
    unsafe { variant.run(Call::ReduceScatter(from, &to, counts, op)) }
}

pub(super) fn scan(
    variant: Variant,
    sendbuf: *mut u8,
    recvbuf: *mut u8,
    elements: Elements,
    op: &Operation,
) -> Result<()> {
    intra(variant.comm())?;
    let (from, to) = buffers(variant.comm(), sendbuf, recvbuf, elements)?;
    // SAFETY: both buffers are the caller's by the standard.
    unsafe { variant.run(Call::Scan(from, &to, op)) }
}

pub(super) fn exscan(
    variant: Variant,
    sendbuf: *mut u8,
    recvbuf: *mut u8,
    elements: Elements,
    op: &Operation,
) -> Result<()> {
    intra(variant.comm())?;
    let (from, to) = buffers(variant.comm(), sendbuf, recvbuf, elements)?;
    // SAFETY: both buffers are the caller's by the standard.
    unsafe { variant.run(Call::Exscan(from, &to, op)) }
}

/// The buffers of a reduction whose result is as long as each contribution.
#[inline(always)]
fn buffers(
    comm: &Communicator,
    from: *mut u8,
    to: *mut u8,
    (count, datatype): Elements,
) -> Result<(Source<'static>, Data<'static>)> {
    not_in_place(to, "recvbuf")?;
    let to = data(to, count, datatype, "recvbuf")?;
    Ok((source(comm, from, count, &to)?, to))
}

/// The contribution, unless it lies in the receive buffer.
#[inline(always)]
fn source<'a>(comm: &Communicator, from: *mut u8, count: usize, to: &Data<'a>) -> Result<Source<'a>> {
    if in_place_on(comm, from, "sendbuf")? {
        return Ok(Source::InPlace);
    }
    let from = data(from, count, to.datatype, "sendbuf")?;
    distinct(&from, to)?;
    Ok(Source::From(from))
}
