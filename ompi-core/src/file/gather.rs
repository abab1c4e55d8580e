//! Processes gather what all read or write: the rounds of a collective access, whoever divides the file among them.
//!
//! A component of framework fcoll divides the bytes between the first and the last place of an access into *windows*: in each round
//! one of every process. In a round every process gathers what all write into its window, and writes that in long pieces; or it
//! reads a window, and gives every process what it wants of it. Messages of rounds are collective operations on the file's communicator.
//! Within a node, data that lies together in memory is copied once instead, between its memory and the window.
//!
//! | file | subject |
//! |---|---|
//! | `extent` | what processes tell each other of an access, and what follows from it |
//! | `rounds` | the rounds of one access |
//! | `memory` | the memory for them |
//! | `messages` | data that goes by messages |
//! | `direct` | a window whose data comes from the memory of other processes, or goes there |
//! | `survey` | which bytes of each window a process wants |
//! | `windows` | which part of the file a process gathers in which round |
//! | `runs` | bytes of a window that lie together |
//! | `raw` | packing, and the collective operations |
//!
//! **Invariant:** gaps between pieces are never written. All memory is taken before the first round, and no more than a limit where
//! windows can be made short enough for that; where one process has no memory for it none begins.

use super::place::Outcome;
use crate::error::Result;
use crate::framework::fcoll::Job;
use alloc::boxed::Box;

mod direct;
mod extent;
mod memory;
mod messages;
mod raw;
mod rounds;
mod runs;
mod survey;
mod windows;

pub use direct::is_possible;
pub use extent::{AccessExtent, AllExtents, GatherLimits, PAGE};
pub use raw::sum_words;
pub use windows::{LONGEST, Windows};

/// Does all of an access, in windows that `divide` makes for so many bytes of each. All processes call it, and with the same limit:
/// the memory that each of them takes.
///
/// # Safety
/// The data is readable (to write it) or writable (to read into it).
#[allow(unsafe_code)] // the contract of the framework's trait
pub unsafe fn gather<W: Windows + 'static>(
    job: &Job<'_>,
    limit: u64,
    mut divide: impl FnMut(u64) -> Result<W>,
) -> Outcome {
    // SAFETY: the caller's promise.
    let data = unsafe { raw::UserData::new(job.data) };
    // The rounds are compiled once, whoever makes the windows.
    let mut divide = |bytes| divide(bytes).map(|windows| Box::new(windows) as Box<dyn Windows>);
    rounds::Rounds::run(job, data, limit, &mut divide).unwrap_or_else(Outcome::from)
}
