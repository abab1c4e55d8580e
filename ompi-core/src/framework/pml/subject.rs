//! What a wait for messages is for, as a [`Subject`].

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
/// Added to the others: it belongs to a collective operation.
pub const COLLECTIVE: u32 = 16;

/// The communicator of a message is not known.
pub const NO_CONTEXT: u32 = u32::MAX;

/// A message from a rank of a communicator, which is this process of the job, or from any rank.
pub fn message(rank: i32, process: Option<u32>, tag: i32, context: u32, collective: bool) -> Subject {
    let process = process.filter(|_| rank != ANY_SOURCE).unwrap_or(Subject::NO_PROCESS);
    Subject { kind: of(MESSAGE, collective), process, rank, tag, context }
}

/// A kind, of a collective operation or not.
pub fn of(kind: u32, collective: bool) -> u32 {
    kind + if collective { COLLECTIVE } else { 0 }
}
