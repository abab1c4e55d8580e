//! Gathers what each rank of MPI_COMM_WORLD has to say at rank 0.
#![allow(unsafe_code)]

use crate::comm::Communicator;
use crate::data::{Blocks, Counts, Data, Source};
use crate::error::{Class, Result};
use crate::framework::coll::Call;
use crate::{datatype, executor};
use alloc::vec;
use alloc::vec::Vec;
use opal_core::sync::{AtomicBool, Ordering};

static HAS_BEGUN: AtomicBool = AtomicBool::new(false);

/// Whether MPI_Finalize has begun to gather what the ranks have to say.
pub fn has_begun() -> bool {
    HAS_BEGUN.load(Ordering::Relaxed)
}

/// The bytes of all ranks by rank, at rank 0; elsewhere nothing. All ranks of the communicator call it.
pub fn at_first(comm: &Communicator, mine: &[u8]) -> Result<Option<Vec<Vec<u8>>>> {
    HAS_BEGUN.store(true, Ordering::Relaxed);
    let is_first = comm.rank == 0;
    let lengths = lengths(comm, mine.len())?;
    let starts: Vec<i64> = lengths.iter().scan(0, |sum, length| Some(core::mem::replace(sum, *sum + length))).collect();
    let mut all = vec![0u8; lengths.iter().sum::<i64>() as usize];
    let mut own = mine.to_vec();
    let from = Data { at: own.as_mut_ptr(), count: own.len(), datatype: datatype::byte() };
    let to = Blocks {
        at: all.as_mut_ptr(),
        counts: Counts::Large(&lengths),
        displacements: Counts::Large(&starts),
        datatype: datatype::byte(),
    };
    // SAFETY: `own` is as long as it says, `all` has room for the lengths of all ranks at rank 0; both outlive the call.
    unsafe { executor::run(comm, &Call::Gatherv(Source::From(from), is_first.then_some(&to), 0))? };
    let mut rest = &all[..];
    let cut = |length: &i64| rest.split_off(..*length as usize).map(<[u8]>::to_vec).ok_or_else(|| Class::Intern.into());
    is_first.then(|| lengths.iter().map(cut).collect()).transpose()
}

/// How many bytes each rank has, at rank 0.
fn lengths(comm: &Communicator, mine: usize) -> Result<Vec<i64>> {
    let datatype = datatype::borrow(datatype::UINT64).ok_or(Class::Intern)?;
    let (mut own, mut all) = ([mine as i64], vec![0i64; if comm.rank == 0 { comm.size() } else { 0 }]);
    let from = Data { at: own.as_mut_ptr().cast(), count: 1, datatype };
    let to = Data { at: all.as_mut_ptr().cast(), count: 1, datatype };
    // SAFETY: one word from here, one for every rank at rank 0; both outlive the call.
    unsafe { executor::run(comm, &Call::Gather(Source::From(from), (comm.rank == 0).then_some(&to), 0))? };
    Ok(all)
}
