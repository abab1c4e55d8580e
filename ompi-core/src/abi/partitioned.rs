//! Partitioned communication. MPI 5.0 §4.2.

use super::kinds::{
    Array, Buffer, CommHandle, ConstBuffer, Count, Hints, OldType, Out, ParamKind, Rank, Raw, RecvTag, Request, Tag,
    array, data, rank_from, rank_to,
};
use crate::error::{Class, Fault, Result};
use crate::framework::part::{self, PartitionedTransfer};
use crate::request::{self, NULL, Partitioned, handles};
use crate::status::{ANY_SOURCE, ANY_TAG};
use alloc::format;
use core::ffi::c_int;
use core::ops::Range;

rows! {
    /// Makes a persistent request for a send in partitions. MPI 5.0 §4.2.1.
    fn Psend_init(
        buf: ConstBuffer, partitions: Raw<c_int>, count: Count, datatype: OldType, dest: Rank, tag: Tag,
        comm: CommHandle, info: Hints, request: Out<usize>,
    ) [large] => {
        let (handle, comm) = comm;
        rank_to(dest, comm, "dest")?;
        // No hint is known.
        drop(info);
        let partitions = number(partitions, "partitions")?;
        let transfer = PartitionedTransfer { at: buf, partitions, count, datatype, peer: dest, tag, comm: handle };
        check(&transfer)?;
        // SAFETY: of each partition that is marked ready the buffer is readable by the standard.
        request.set(unsafe { part::selected()?.psend_init(transfer)? }.into_handle());
        Ok(())
    }

    /// Makes a persistent request for a receive in partitions. MPI 5.0 §4.2.1.
    fn Precv_init(
        buf: Buffer, partitions: Raw<c_int>, count: Count, datatype: OldType, source: Rank, tag: RecvTag,
        comm: CommHandle, info: Hints, request: Out<usize>,
    ) [large] => {
        let (handle, comm) = comm;
        rank_from(source, comm, "source")?;
        no_wildcards(source, tag)?;
        drop(info);
        let partitions = number(partitions, "partitions")?;
        let transfer = PartitionedTransfer { at: buf, partitions, count, datatype, peer: source, tag, comm: handle };
        check(&transfer)?;
        // SAFETY: from every start to its completion the buffer is writable by the standard.
        request.set(unsafe { part::selected()?.precv_init(transfer)? }.into_handle());
        Ok(())
    }

    /// Says that a partition of a send may leave. MPI 5.0 §4.2.1.
    fn Pready(partition: Raw<c_int>, request: Request) [shortcut] => { of_request(request, ready_one(request, partition)) }

    /// Says that a range of partitions may leave. MPI 5.0 §4.2.1.
    fn Pready_range(partition_low: Raw<c_int>, partition_high: Raw<c_int>, request: Request) [] => {
        let range = of_request(request, range(partition_low, partition_high))?;
        of_request(request, ready(request, range).map_err(|fault| fault.argument("partition_high")))
    }

    /// Says that the listed partitions may leave. MPI 5.0 §4.2.1.
    fn Pready_list(length: Raw<c_int>, array_of_partitions: Array<c_int>, request: Request) [] => {
        of_request(request, check_started(request))?;
        let length = of_request(request, number(length, "length"))?;
        // SAFETY: the array has `length` elements by the standard.
        let listed = of_request(request, unsafe { array(array_of_partitions, length, "array_of_partitions") })?;
        // Neighbours that stand one behind the other are a range: one access for many.
        let marked = listed.chunk_by(|one, next| one.checked_add(1) == Some(*next)).try_for_each(|run| {
            let first = number(run[0], "array_of_partitions")?;
            if run.len() == 1 && request::pready(request, first) {
                return Ok(());
            }
            ready(request, first..first + run.len()).map_err(|fault| fault.argument("array_of_partitions"))
        });
        of_request(request, marked)
    }

    /// Says whether a partition of a receive is there. MPI 5.0 §4.2.2.
    fn Parrived(request: Request, partition: Raw<c_int>, flag: Out<c_int>) [] => {
        let partition = of_request(request, number(partition, "partition"))?;
        // MPI 5.0 §4.2.2: true for a null or inactive request.
        if request == NULL {
            flag.set(1);
            return Ok(());
        }
        let Partitioned { token, .. } = find(request)?;
        let arrived = part::selected()?.parrived(token, partition).map_err(|fault| fault.argument("partition"));
        // One that has ended has all partitions, unless it failed: then this one never comes.
        let arrived = of_request(request, arrived)? || match handles::look(request)? {
            None => false,
            Some(ended) if ended.error == 0 => true,
            Some(failed) => return Err(failed.fault()),
        };
        flag.set(c_int::from(arrived));
        Ok(())
    }
}

/// What every start relies on: a committed datatype, and a buffer where there is data. Its length in bytes is a number.
fn check(transfer: &PartitionedTransfer) -> Result<()> {
    let PartitionedTransfer { at, partitions, count, datatype, .. } = transfer;
    if !datatype.is_committed() {
        let why = "the datatype is not committed; call MPI_Type_commit first";
        return Err(Fault::new(Class::Type).argument("datatype").because(why));
    }
    let size = datatype.layout.size().max(datatype.layout.extent().unsigned_abs());
    let elements = partitions.checked_mul(*count);
    match elements.filter(|elements| elements.checked_mul(size).is_some_and(|bytes| isize::try_from(bytes).is_ok())) {
        Some(elements) => data(*at, elements, datatype, "buf").map(drop),
        None => {
            let why = format!("{partitions} partitions of {count} elements are more than an address can hold");
            Err(Fault::new(Class::Count).argument("count").because(why))
        }
    }
}

/// MPI 5.0 §4.2.1: neither MPI_ANY_SOURCE nor MPI_ANY_TAG.
fn no_wildcards(source: c_int, tag: c_int) -> Result<()> {
    if source == ANY_SOURCE {
        return Err(Fault::new(Class::Rank).argument("source").because("a partitioned receive names its source"));
    }
    if tag == ANY_TAG {
        return Err(Fault::new(Class::Tag).argument("tag").because("a partitioned receive names its tag"));
    }
    Ok(())
}

/// MPI_Pready as it nearly always is.
#[inline(always)]
unsafe fn shortcut_pready(partition: c_int, request: <Request as ParamKind>::C) -> bool {
    // A negative number becomes one that no partition has.
    request::pready(request, partition as usize)
}

fn ready_one(handle: usize, partition: c_int) -> Result<()> {
    let partition = number(partition, "partition")?;
    ready(handle, partition..partition + 1).map_err(|fault| fault.argument("partition"))
}

/// Marks partitions of a request that must be under way.
fn ready(handle: usize, partitions: Range<usize>) -> Result<()> {
    let found = check_started(handle)?;
    part::selected()?.pready(found.token, partitions)
}

fn check_started(handle: usize) -> Result<Partitioned> {
    let found = find(handle)?;
    if !found.is_started {
        return Err(wrong_request("it was not started".into()));
    }
    Ok(found)
}

/// Whatever is wrong with a call that names a request concerns its communicator.
#[inline(always)]
fn of_request<T>(handle: usize, result: Result<T>) -> Result<T> {
    result.map_err(|fault| fault.or_on(request::context(handle)))
}

#[inline(always)]
fn find(handle: usize) -> Result<Partitioned> {
    request::partitioned(handle).ok_or_else(|| wrong_request(format!("{handle:#x} is no partitioned request in force")))
}

#[cold]
fn wrong_request(why: alloc::string::String) -> Fault {
    Fault::new(Class::Request).argument("request").because(why)
}

#[inline(always)]
fn number(value: c_int, argument: &'static str) -> Result<usize> {
    usize::try_from(value)
        .map_err(|_| Fault::new(Class::Arg).argument(argument).because(format!("{value} is negative")))
}

/// MPI 5.0 §4.2.1: both ends belong to the range.
fn range(low: c_int, high: c_int) -> Result<Range<usize>> {
    let (first, last) = (number(low, "partition_low")?, number(high, "partition_high")?);
    if first > last {
        let why = format!("{low} is more than partition_high, which is {high}");
        return Err(Fault::new(Class::Arg).argument("partition_low").because(why));
    }
    Ok(first..last + 1)
}
