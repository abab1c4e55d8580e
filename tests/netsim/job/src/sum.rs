//! A collective operation that does not wait.
#![allow(unsafe_code)] // calls the C functions

use crate::mpi::{Transfer, must};
use ompi_core::abi::coll_nonblocking::PMPI_Iallreduce;
use ompi_core::comm::WORLD_HANDLE;

/// Begins to add up a number of each rank.
pub fn begin(own: i64) -> Transfer {
    let mut buffer = [0, own].map(i64::to_ne_bytes).concat();
    let (sum, own) = buffer.split_at_mut(8);
    let (sum, own) = (sum.as_mut_ptr().cast(), own.as_mut_ptr().cast());
    let mut request = 0;
    // SAFETY: both are that long, and live on the heap until the request is over.
    must("MPI_Iallreduce", unsafe { PMPI_Iallreduce(own, sum, 1, INT64_T, SUM, WORLD_HANDLE, &mut request) });
    Transfer { request, buffer }
}

/// The sum, once it is over.
pub fn result(sum: &Transfer) -> i64 {
    i64::from_ne_bytes(*sum.buffer.first_chunk().expect("a number and a number"))
}

const INT64_T: usize = 0x258;
const SUM: usize = 0x21;
