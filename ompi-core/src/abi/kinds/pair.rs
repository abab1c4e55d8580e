//! Checks of two arguments together: a rank and its communicator, a buffer and its count.

use super::number::negative;
use super::{CountArray, array, committed};
use crate::buffer::AUTOMATIC;
use crate::comm::Communicator;
use crate::data::{Blocks, Counts, Data, TypedBlocks};
use crate::datatype::Datatype as Type;
use crate::error::{Class, Fault, Result};
use crate::framework::coll;
use crate::status::{ANY_SOURCE, PROC_NULL, ROOT};
use alloc::format;
use alloc::vec::Vec;

/// A buffer with its count and datatype. Null is an error only if data would lie at address 0 (MPI_BOTTOM is 0, too), and so are the
/// names of no buffer.
#[inline(always)]
pub fn data<'a>(at: *mut u8, count: usize, datatype: &'a Type, argument: &'static str) -> Result<Data<'a>> {
    if is_no_buffer(at) && count > 0 && datatype.layout.size() > 0 && datatype.layout.true_lb() == 0 {
        return Err(no_buffer(at).argument(argument));
    }
    Ok(Data { at, count, datatype })
}

/// Whether an address is null, MPI_IN_PLACE or MPI_BUFFER_AUTOMATIC.
#[inline(always)]
pub fn is_no_buffer(at: *const u8) -> bool {
    at as usize <= AUTOMATIC
}

#[cold]
fn no_buffer(at: *const u8) -> Fault {
    Fault::new(Class::Buffer).because(match at as usize {
        0 => "it is a null pointer, but the count is above 0",
        AUTOMATIC => "it is MPI_BUFFER_AUTOMATIC, which is for MPI_Buffer_attach and its relatives",
        _ => "it is MPI_IN_PLACE, which is for collective operations",
    })
}

/// A buffer with its count and datatype in a call that all processes make together.
pub fn agreed_data(at: *mut u8, count: Result<usize>, datatype: Result<&Type>) -> Result<Data<'_>> {
    let count = count.map_err(|fault| fault.argument("count"))?;
    data(at, count, datatype.map_err(|fault| fault.argument("datatype"))?, "buf")
}

/// Checks a destination rank against its communicator: a rank of it or MPI_PROC_NULL.
#[inline(always)]
pub fn rank_to(rank: i32, comm: &Communicator, argument: &'static str) -> Result<()> {
    match (rank as u32 as usize) < comm.peer_count() || rank == PROC_NULL {
        true => Ok(()),
        false => Err(bad_rank(rank, comm, "", Class::Rank).argument(argument)),
    }
}

/// Checks a source rank: as [`rank_to`], or MPI_ANY_SOURCE.
#[inline(always)]
pub fn rank_from(rank: i32, comm: &Communicator, argument: &'static str) -> Result<()> {
    // No call on the way through: the checking function would save registers for it.
    let named = (rank as u32 as usize) < comm.peer_count() || rank == PROC_NULL;
    match named || rank == ANY_SOURCE && !comm.hints.names_sources() {
        true => Ok(()),
        false => Err(bad_source(rank, comm).argument(argument)),
    }
}

#[cold]
fn bad_source(rank: i32, comm: &Communicator) -> Fault {
    match rank {
        ANY_SOURCE => Fault::new(Class::Rank).because(
            "MPI_ANY_SOURCE, but the communicator's info promises mpi_assert_no_any_source; name the source, or take the \
             promise back with MPI_Comm_set_info",
        ),
        _ => bad_rank(rank, comm, " nor MPI_ANY_SOURCE", Class::Rank),
    }
}

/// Checks the root of a collective operation: a rank, of an intercommunicator one of the other group, MPI_ROOT or
/// MPI_PROC_NULL.
#[inline(always)]
pub fn root(rank: i32, comm: &Communicator) -> Result<usize> {
    match (rank as u32 as usize) < comm.peer_count() {
        true => Ok(rank as usize),
        false => root_by_name(rank, comm),
    }
}

#[cold]
fn root_by_name(rank: i32, comm: &Communicator) -> Result<usize> {
    match rank {
        ROOT if comm.is_inter() => Ok(coll::ROOT_HERE),
        PROC_NULL if comm.is_inter() => Ok(coll::ROOT_BESIDE),
        _ => {
            let or = if comm.is_inter() { ", MPI_ROOT nor MPI_PROC_NULL" } else { "" };
            Err(bad_rank(rank, comm, or, Class::Root).argument("root"))
        }
    }
}

/// What a process is in an operation with a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The root.
    Root,
    /// It exchanges data with the root.
    Other,
    /// It is in the root's group of an intercommunicator and has nothing to do.
    Beside,
}

/// What this process is when `root` is what [`root`] returned.
#[inline(always)]
pub fn role(root: usize, comm: &Communicator) -> Role {
    match (comm.is_inter(), root) {
        (false, root) if root == comm.rank as usize => Role::Root,
        (false, _) => Role::Other,
        (true, coll::ROOT_HERE) => Role::Root,
        (true, coll::ROOT_BESIDE) => Role::Beside,
        (true, _) => Role::Other,
    }
}

/// Whether a buffer argument is MPI_IN_PLACE.
#[inline(always)]
pub fn in_place(at: *mut u8) -> bool {
    at as usize == 1
}

/// Whether a buffer argument is MPI_IN_PLACE, which says nothing on an intercommunicator (MPI 5.0 §6.2.3).
#[inline(always)]
pub fn in_place_on(comm: &Communicator, at: *mut u8, argument: &'static str) -> Result<bool> {
    match in_place(at) {
        false => Ok(false),
        true if !comm.is_inter() => Ok(true),
        true => {
            let why = "MPI_IN_PLACE is for intracommunicators only";
            Err(Fault::new(Class::Buffer).argument(argument).because(why))
        }
    }
}

/// Refuses MPI_IN_PLACE where the standard does not allow it.
#[inline(always)]
pub fn not_in_place(at: *mut u8, argument: &'static str) -> Result<()> {
    match in_place(at) {
        false => Ok(()),
        true => {
            let why = "MPI_IN_PLACE is not allowed for this buffer here";
            Err(Fault::new(Class::Buffer).argument(argument).because(why))
        }
    }
}

/// A buffer whose count and datatype only count here, as the standard says of this rank or without MPI_IN_PLACE.
/// `arguments` are the names of buffer, count and datatype.
pub fn late(at: *mut u8, count: i64, datatype: usize, arguments: [&'static str; 3]) -> Result<Data<'static>> {
    let [buffer, count_name, type_name] = arguments;
    not_in_place(at, buffer)?;
    let count = usize::try_from(count).map_err(|_| negative(count).argument(count_name))?;
    let datatype = committed(datatype).map_err(|fault| fault.argument(type_name))?;
    data(at, count, datatype, buffer)
}

/// A buffer in blocks, one per process. `arguments` are the names of buffer, counts, displacements and datatype.
///
/// # Safety
/// Both arrays have `ranks` elements.
pub unsafe fn blocks(
    at: *mut u8,
    counts: CountArray,
    displacements: CountArray,
    datatype: usize,
    ranks: usize,
    arguments: [&'static str; 4],
) -> Result<Blocks<'static>> {
    let [buffer, counts_name, displacements_name, type_name] = arguments;
    not_in_place(at, buffer)?;
    // SAFETY: the caller's promise.
    let counts = unsafe { not_negative(counts, ranks, counts_name)? };
    // SAFETY: the caller's promise.
    let displacements = unsafe { displacements.of(ranks, displacements_name)? };
    let datatype = committed(datatype).map_err(|fault| fault.argument(type_name))?;
    let any = (0..ranks).map(|rank| counts.count(rank)).max().unwrap_or(0);
    data(at, any, datatype, buffer)?;
    Ok(Blocks { at, counts, displacements, datatype })
}

/// A buffer in blocks with a datatype each; the types go to `room`. `arguments` as for [`blocks`].
///
/// # Safety
/// All arrays have `ranks` elements.
pub unsafe fn typed_blocks<'a>(
    at: *mut u8,
    arrays: (CountArray, CountArray, *const usize),
    ranks: usize,
    room: &'a mut Vec<&'static Type>,
    arguments: [&'static str; 4],
) -> Result<TypedBlocks<'a>> {
    let [buffer, counts_name, displacements_name, types_name] = arguments;
    let (counts, displacements, datatypes) = arrays;
    not_in_place(at, buffer)?;
    // SAFETY: the caller's promise.
    let counts = unsafe { not_negative(counts, ranks, counts_name)? };
    // SAFETY: the caller's promise.
    let displacements = unsafe { displacements.of(ranks, displacements_name)? };
    // SAFETY: the caller's promise.
    for (rank, datatype) in unsafe { array(datatypes, ranks, types_name)? }.iter().enumerate() {
        let datatype = committed(*datatype).map_err(|fault| fault.argument(types_name))?;
        // As for `data`, with a displacement in bytes: MPI_BOTTOM and a displacement may name data anywhere.
        if displacements.get(rank) == 0 {
            data(at, counts.count(rank), datatype, buffer)?;
        }
        room.push(datatype);
    }
    Ok(TypedBlocks { at, counts, displacements, datatypes: room })
}

/// Refuses an intercommunicator where the standard knows none (MPI 5.0 §6.11, §8.6).
#[inline(always)]
pub fn intra(comm: &Communicator) -> Result<()> {
    match comm.is_inter() {
        false => Ok(()),
        true => Err(Fault::new(Class::Comm).argument("comm").because("it is an intercommunicator")),
    }
}

/// Refuses buffers that are the same memory (MPI 5.0 §6.9.1 and §2.3): where MPI_IN_PLACE was meant.
pub fn distinct(from: &Data<'_>, to: &Data<'_>) -> Result<()> {
    let same =
        from.bytes() > 0 && to.bytes() > 0 && from.contiguous().is_some() && from.contiguous() == to.contiguous();
    match same {
        false => Ok(()),
        true => Err(Fault::new(Class::Buffer)
            .argument("sendbuf")
            .because("it is the receive buffer, too; use MPI_IN_PLACE")),
    }
}

/// Refuses buffers that share memory, of which one has a block for each process. Each rank that passes such buffers finds
/// it, whichever block it is: if one alone did, the others would wait for it.
pub fn apart(from: &Data<'_>, to: &Data<'_>) -> Result<()> {
    let (Some(one), Some(two)) = (from.contiguous(), to.contiguous()) else { return Ok(()) };
    let (one, two, sent, received) = (one as usize, two as usize, from.bytes(), to.bytes());
    let shared = sent > 0 && received > 0 && one < two + received && two < one + sent;
    match shared {
        false => Ok(()),
        true => Err(Fault::new(Class::Buffer)
            .argument("sendbuf")
            .because("it shares memory with the receive buffer; use MPI_IN_PLACE, or a buffer of its own")),
    }
}

/// An array of counts, one per rank, none of them negative.
///
/// # Safety
/// The array has `ranks` elements.
pub unsafe fn not_negative(counts: CountArray, ranks: usize, argument: &'static str) -> Result<Counts<'static>> {
    // SAFETY: the caller's promise.
    let counts = unsafe { counts.of(ranks, argument)? };
    match (0..ranks).map(|rank| counts.get(rank)).find(|count| *count < 0) {
        None => Ok(counts),
        Some(count) => Err(negative(count as i64).argument(argument)),
    }
}

#[cold]
fn bad_rank(rank: i32, comm: &Communicator, or: &str, class: Class) -> Fault {
    let ranks = comm.peers().size();
    Fault::new(class).because(format!("{rank} is not a rank of the communicator (0 to {}){or}", ranks - 1))
}
