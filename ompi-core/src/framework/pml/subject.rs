//! What a wait for messages or for other processes of a window is for, as a [`Subject`].

use crate::status::ANY_SOURCE;
use opal_core::wait::Subject;

/// A message that no receive has met yet.
pub const MESSAGE: u32 = 1;
/// The rest of a message that has met its receive.
pub const REST: u32 = 2;
/// A receive for a message that was announced.
pub const RECEIVE: u32 = 3;
/// Room for a message that has not left yet.
pub const ROOM: u32 = 4;
/// Any of several operations; the number of them in the place of the tag.
pub const ANY_OF: u32 = 5;
/// All ranks of a communicator in a collective operation, or nobody knows which.
pub const RANKS: u32 = 6;
/// The passive lock of a window; the rank whose memory it guards in the place of the tag.
pub const LOCK: u32 = 7;
/// MPI_Win_post of a rank, which MPI_Win_start waits for.
pub const POST: u32 = 8;
/// MPI_Win_complete of a rank, which MPI_Win_wait waits for.
pub const COMPLETE: u32 = 9;
/// A rank to do what was asked of it for a window, by messages.
pub const WINDOW: u32 = 10;
/// Partitions that have not come (MPI 5.0 §4.2).
pub const PARTITIONS: u32 = 11;
/// A rank to receive partitions that are marked ready.
pub const TAKEN: u32 = 12;
/// This process itself to mark partitions ready.
pub const MARKS: u32 = 13;
/// Added to the others: it belongs to a collective operation.
pub const COLLECTIVE: u32 = 16;

/// The communicator of a message is not known.
pub const NO_CONTEXT: u32 = u32::MAX;

/// A message from a rank of a communicator, which is this process of the job, or from any rank.
pub fn message(rank: i32, process: Option<u32>, tag: i32, context: u32, collective: bool) -> Subject {
    let process = process.filter(|_| rank != ANY_SOURCE).unwrap_or(Subject::NO_PROCESS);
    Subject { kind: of(MESSAGE, collective), process, rank, tag, context }
}

/// Something at a window that a rank of it is to do, which is this process of the job; `None` if nobody knows which rank.
pub fn at_window(kind: u32, rank: Option<(usize, u32)>, target: usize) -> Subject {
    let (rank, process) = rank.map_or((ANY_SOURCE, Subject::NO_PROCESS), |(rank, process)| (rank as i32, process));
    Subject { kind, process, rank, tag: target as i32, context: NO_CONTEXT }
}

/// All ranks of a communicator, in a collective operation.
pub fn ranks(context: u32) -> Subject {
    Subject { kind: RANKS, context, ..Subject::UNKNOWN }
}

/// A kind, of a collective operation or not.
pub fn of(kind: u32, collective: bool) -> u32 {
    kind + if collective { COLLECTIVE } else { 0 }
}
