//! Agreement of the processes that opened a file: what one of them cannot do, all are told.
//!
//! Every collective call begins with [`agree_call`], also where its arguments are wrong. So no process waits for one that was
//! refused, and two different calls are noticed before either has done anything.

use super::call::FileCall;
use crate::comm::Communicator;
use crate::errhandler;
use crate::error::{Class, Fault, Result};
use crate::oob::Conversation;
use crate::oob::allgather::Allgather;
use alloc::format;
use alloc::vec::Vec;

/// What a process tells the others when it begins a collective call; what it means depends on the call.
pub type CallWords = [u64; 4];

/// Begins a collective call: waits for all. `Err` on each if anybody has one, its own where it has one, or if they make
/// different calls. `words` are what this process tells the others; returns what each of them has told.
pub fn agree_call<T>(
    comm: &Communicator,
    call: FileCall,
    mine: Result<T>,
    words: impl FnOnce(&T) -> CallWords,
) -> Result<(T, Vec<CallWords>)> {
    let code = mine.as_ref().map_or_else(Fault::get, |_| 0) as u32;
    let [a, b, c, d] = mine.as_ref().map_or([0; 4], words);
    let all = exchange(comm, [u64::from(call.number()) << 32 | u64::from(code), a, b, c, d])?;
    let mine = mine?;
    let other = |word: u64| FileCall::numbered((word >> 32) as u32);
    let goes_with = |word: u64| other(word).is_some_and(|other| other.alike() == call.alike());
    if let Some((rank, [word, ..])) = all.iter().enumerate().find(|(_, [word, ..])| !goes_with(*word)) {
        let other = other(*word).map_or_else(|| "another function".into(), |call| format!("{call}"));
        let why = format!(
            "this process calls {call}, rank {rank} of the file {other}; all its ranks must make the same call"
        );
        return Err(Fault::new(Class::NotSame).argument("fh").because(why));
    }
    match all.iter().enumerate().find(|(_, [word, ..])| *word as u32 != 0) {
        None => Ok((mine, all.into_iter().map(|[_, words @ ..]| words).collect())),
        Some((rank, [word, ..])) => Err(elsewhere(rank, *word as u32 as i32)),
    }
}

/// As [`agree_call`], and all must have given the same value of an argument.
pub fn agree_on<T>(
    comm: &Communicator,
    call: FileCall,
    mine: Result<T>,
    argument: &'static str,
    value: impl FnOnce(&T) -> u64,
) -> Result<T> {
    let (mine, all) = agree_call(comm, call, mine, |mine| [value(mine), 0, 0, 0])?;
    same(comm, &all, argument, 0)?;
    Ok(mine)
}

/// Checks that all have told the same word, of an argument.
pub fn same(comm: &Communicator, all: &[CallWords], argument: &'static str, word: usize) -> Result<()> {
    let own = all[comm.rank as usize][word];
    match all.iter().position(|words| words[word] != own) {
        None => Ok(()),
        Some(rank) => {
            let why = format!("rank {rank} gave another value; all ranks of the file must give the same");
            Err(Fault::new(Class::NotSame).argument(argument).because(why))
        }
    }
}

/// Within a call: waits for all; `Err` on each if anybody has one, its own where it has one.
pub fn agree<T>(comm: &Communicator, mine: Result<T>) -> Result<T> {
    let code = mine.as_ref().map_or_else(Fault::get, |_| 0);
    let all = exchange(comm, [code as u32 as u64])?;
    let mine = mine?;
    match all.iter().enumerate().find(|(_, [code])| *code != 0) {
        None => Ok(mine),
        Some((rank, [code])) => Err(elsewhere(rank, *code as u32 as i32)),
    }
}

/// Within a call: what rank 0 came to is what all return; the others wait for it.
pub fn as_first(comm: &Communicator, act: impl FnOnce() -> Result<()>) -> Result<()> {
    agree(comm, if comm.rank == 0 { act() } else { Ok(()) })
}

/// Within a call: some words of every rank, by rank.
pub fn exchange<const N: usize>(comm: &Communicator, words: [u64; N]) -> Result<Vec<[u64; N]>> {
    Allgather::about(comm, Conversation::Collective, comm.next_constructor(), &words).wait()
}

/// The fault of the others where one has this one.
pub(super) fn elsewhere(rank: usize, code: i32) -> Fault {
    Fault::code(code).because(format!("rank {rank} of the file failed with {}", errhandler::error_string(code)))
}
