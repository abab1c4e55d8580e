//! Checks of two arguments together: a rank and its communicator, a buffer and its count.

use crate::comm::Communicator;
use crate::data::Data;
use crate::datatype::Datatype as Type;
use crate::error::{Class, Fault, Result};
use crate::status::{ANY_SOURCE, PROC_NULL};
use alloc::format;

/// A buffer with its count and datatype. Null is an error only if data would lie at address 0 (MPI_BOTTOM is 0, too).
#[inline(always)]
pub fn data<'a>(at: *mut u8, count: usize, datatype: &'a Type, argument: &'static str) -> Result<Data<'a>> {
    if at.is_null() && count > 0 && datatype.layout.size() > 0 && datatype.layout.true_lb() == 0 {
        return Err(Fault::new(Class::Buffer).argument(argument).because("a null pointer with a count above 0"));
    }
    Ok(Data { at, count, datatype })
}

/// Checks a destination rank against its communicator: a rank of it or MPI_PROC_NULL.
#[inline(always)]
pub fn dest(rank: i32, comm: &Communicator, argument: &'static str) -> Result<()> {
    match (rank as u32 as usize) < comm.peers().size() || rank == PROC_NULL {
        true => Ok(()),
        false => Err(bad_rank(rank, comm, "", Class::Rank).argument(argument)),
    }
}

/// Checks a source rank: as [`dest`], or MPI_ANY_SOURCE.
#[inline(always)]
pub fn source(rank: i32, comm: &Communicator, argument: &'static str) -> Result<()> {
    match (rank as u32 as usize) < comm.peers().size() || rank == PROC_NULL || rank == ANY_SOURCE {
        true => Ok(()),
        false => Err(bad_rank(rank, comm, " nor MPI_ANY_SOURCE", Class::Rank).argument(argument)),
    }
}

/// Checks the root of a collective operation on an intracommunicator.
pub fn root(rank: i32, comm: &Communicator) -> Result<usize> {
    match (rank as u32 as usize) < comm.size() {
        true => Ok(rank as usize),
        false => Err(bad_rank(rank, comm, "", Class::Root).argument("root")),
    }
}

#[cold]
fn bad_rank(rank: i32, comm: &Communicator, or: &str, class: Class) -> Fault {
    let ranks = comm.peers().size();
    Fault::new(class).because(format!("{rank} is no rank of the communicator (0 to {}){or}", ranks - 1))
}
