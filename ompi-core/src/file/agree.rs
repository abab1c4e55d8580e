//! Agreement of the processes that opened a file: what one of them cannot do, all are told.

use crate::comm::Communicator;
use crate::errhandler;
use crate::error::{Class, Fault, Result};
use crate::oob::Conversation;
use crate::oob::allgather::Allgather;
use alloc::format;
use alloc::vec::Vec;

/// Waits for all; `Err` on each if anybody has one, its own where it has one.
pub fn agree<T>(comm: &Communicator, mine: Result<T>) -> Result<T> {
    let code = mine.as_ref().map_or_else(Fault::get, |_| 0);
    let all = exchange(comm, [code as u32 as u64])?;
    let mine = mine?;
    match all.iter().enumerate().find(|(_, [code])| *code != 0) {
        None => Ok(mine),
        Some((rank, [code])) => Err(elsewhere(rank, *code as u32 as i32)),
    }
}

/// As [`agree`], and all must have given the same value of an argument.
pub fn agree_on<T>(comm: &Communicator, mine: Result<T>, value: u64, argument: &'static str) -> Result<T> {
    let code = mine.as_ref().map_or_else(Fault::get, |_| 0);
    let all = exchange(comm, [code as u32 as u64, value])?;
    let mine = mine?;
    if let Some((rank, [code, _])) = all.iter().enumerate().find(|(_, [code, _])| *code != 0) {
        return Err(elsewhere(rank, *code as u32 as i32));
    }
    match all.iter().enumerate().find(|(_, [_, other])| *other != value) {
        None => Ok(mine),
        Some((rank, _)) => {
            let why = format!("rank {rank} gave another value; all ranks of the file must give the same");
            Err(Fault::new(Class::NotSame).argument(argument).because(why))
        }
    }
}

/// What one rank came to is what all return; the others wait for it.
pub fn as_first(comm: &Communicator, act: impl FnOnce() -> Result<()>) -> Result<()> {
    agree(comm, if comm.rank == 0 { act() } else { Ok(()) })
}

/// Some words of every rank, by rank.
pub fn exchange<const N: usize>(comm: &Communicator, words: [u64; N]) -> Result<Vec<[u64; N]>> {
    Allgather::about(comm, Conversation::Collective, comm.next_constructor(), &words).wait()
}

fn elsewhere(rank: usize, code: i32) -> Fault {
    Fault::code(code).because(format!("rank {rank} of the file failed with {}", errhandler::error_string(code)))
}
