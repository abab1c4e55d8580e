//! Collectives over words of 64 bits, for the processes that make a topology.
#![allow(unsafe_code)]

use crate::comm::Communicator;
use crate::data::{Blocks, Counts, Data, Source};
use crate::error::{Class, Result};
use crate::framework::coll::Call;
use crate::{datatype, executor};
use alloc::vec;
use alloc::vec::Vec;

/// The words of all processes, by rank, at the first one.
pub fn gather<const N: usize>(comm: &Communicator, mut mine: [u64; N]) -> Result<Vec<[u64; N]>> {
    let datatype = datatype::borrow(datatype::UINT64).ok_or(Class::Intern)?;
    let mut all = vec![[0; N]; comm.size()];
    let from = Data { at: mine.as_mut_ptr().cast(), count: N, datatype };
    let to = Data { at: all.as_mut_ptr().cast(), count: N, datatype };
    let to = (comm.rank == 0).then_some(&to);
    // SAFETY: `mine` has N words, `all` N words for every rank; both outlive the call.
    unsafe { executor::run(comm, &Call::Gather(Source::From(from), to, 0))? };
    Ok(all)
}

/// The words of the first process to all.
pub fn bcast(comm: &Communicator, words: &mut [u64]) -> Result<()> {
    let datatype = datatype::borrow(datatype::UINT64).ok_or(Class::Intern)?;
    let data = Data { at: words.as_mut_ptr().cast(), count: words.len(), datatype };
    // SAFETY: the words are borrowed until the call ends.
    unsafe { executor::run(comm, &Call::Bcast(&data, 0)) }
}

/// Sends each rank its block; returns the blocks of all, by rank.
pub fn alltoallv(comm: &Communicator, blocks: &[Vec<u64>]) -> Result<Vec<Vec<u64>>> {
    let datatype = datatype::borrow(datatype::UINT64).ok_or(Class::Intern)?;
    let mut lengths: Vec<i64> = blocks.iter().map(|block| block.len() as i64).collect();
    let mut coming = vec![0i64; blocks.len()];
    let from = Data { at: lengths.as_mut_ptr().cast(), count: 1, datatype };
    let to = Data { at: coming.as_mut_ptr().cast(), count: 1, datatype };
    // SAFETY: both have a word for every rank, and outlive the call.
    unsafe { executor::run(comm, &Call::Alltoall(Source::From(from), &to))? };
    let starts = |lengths: &[i64]| -> Vec<i64> {
        let next = |sum: &mut i64, length: &i64| {
            let start = *sum;
            *sum += length;
            Some(start)
        };
        lengths.iter().scan(0, next).collect()
    };
    let (out_starts, in_starts) = (starts(&lengths), starts(&coming));
    let mut out = blocks.concat();
    let mut inward = vec![0u64; coming.iter().sum::<i64>() as usize];
    let described = |at: &mut [u64], counts, displacements| Blocks {
        at: at.as_mut_ptr().cast(),
        counts: Counts::Large(counts),
        displacements: Counts::Large(displacements),
        datatype,
    };
    let (from, to) = (described(&mut out, &lengths, &out_starts), described(&mut inward, &coming, &in_starts));
    // SAFETY: the blocks lie in these two vectors, which outlive the call.
    unsafe { executor::run(comm, &Call::Alltoallv(Some(&from), &to))? };
    let mut rest = &inward[..];
    let cut =
        |length: &i64| rest.split_off(..*length as usize).map(<[u64]>::to_vec).ok_or_else(|| Class::Intern.into());
    coming.iter().map(cut).collect()
}
