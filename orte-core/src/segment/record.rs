//! One rank's page, its *record*: offsets from its start, and the values of its state word.
//!
//! The rank writes its own page; the launcher writes the state of a rank before it starts and after it ended.
//!
//! | offset | bytes | what |
//! |---|---|---|
//! | 0 | 4 | state |
//! | 4 | 4 | 1: the addresses are complete |
//! | 8 | 4 | bytes of addresses |
//! | 12 | 4 | status given to abort |
//! | 16 | 4 | bytes of the message given to abort |
//! | 20 | 4 | which of the job's programs it runs |
//! | 24 | 16 | since when it has waited in vain, and when it last went to sleep since then |
//! | 40 | 4 | 1: it learned that a peer was lost |
//! | 48 | 8 | the job of the process without which its wait does not end; 0: its own |
//! | 64 | 8 | the rank there of that process, plus 1; bytes of what it waits for |
//! | 72 | 120 | what it waits for, for people |
//! | 192 | 576 | message given to abort |
//! | 768 | 4 | how often it said what it has counted |
//! | 784 | 432 | what it said last and the time before, in turn: when (8), bytes (4), text (204) |
//! | 1216 | 2880 | addresses |

use core::mem::offset_of;

/// What the rank is: a [`RankState`].
pub const STATE: usize = offset_of!(Record, state);
/// 1 once the addresses are complete; readers sleep on it.
pub const READY: usize = offset_of!(Record, ready);
/// Bytes of addresses.
pub const LENGTH: usize = offset_of!(Record, length);
/// The status given to abort.
pub const ABORT_STATUS: usize = offset_of!(Record, abort_status);
/// Bytes of the message given to abort.
pub const ABORT_LENGTH: usize = offset_of!(Record, abort_length);
/// Which of the job's programs the rank runs, counted from 0; written by the launcher before any rank starts.
pub const APP: usize = offset_of!(Record, app);
/// Since when the rank has waited in vain and when it last went to sleep since then, in ns of the system's monotonic clock: two
/// words each. Both are 0 if it never did.
pub const SLEPT: usize = offset_of!(Record, slept);
/// 1 once a call of the rank failed because a peer was lost: how it ends then is a consequence.
pub const LOST_PEER: usize = offset_of!(Record, lost_peer);
/// The job of the process without which its wait does not end, two words, and its rank there: see
/// [`crate::framework::ess::Needed::to_words`].
pub const AWAITED_JOB: usize = offset_of!(Record, awaited_job);
/// See [`AWAITED_JOB`].
pub const AWAITED_RANK: usize = offset_of!(Record, awaited_rank);
/// Bytes of what it waits for.
pub const AWAITED_LENGTH: usize = offset_of!(Record, awaited_length);
/// What it waits for, UTF-8, cut if longer.
pub const AWAITED_TEXT: usize = offset_of!(Record, awaited_text);
/// Room for that.
pub const AWAITED_TEXT_BYTES: usize = 120;
/// The message given to abort, UTF-8, cut if longer.
pub const ABORT_TEXT: usize = offset_of!(Record, abort_text);
/// Room for that message.
pub const ABORT_TEXT_BYTES: usize = 576;
/// How often the rank said what it has counted so far.
pub const TOLD: usize = offset_of!(Record, told);
/// Where it says so, in turn, so that one of both is whole whenever it dies.
pub const TOLD_PLACES: [usize; 2] =
    [offset_of!(Record, told_places), offset_of!(Record, told_places) + size_of::<Told>()];
/// From there: when it was said, in ns of the monotonic clock, two words.
pub const TOLD_AT: usize = offset_of!(Told, at_ns);
/// From there: bytes of the text.
pub const TOLD_LENGTH: usize = offset_of!(Told, length);
/// From there: what was counted, UTF-8, cut if longer.
pub const TOLD_TEXT: usize = offset_of!(Told, text);
/// Room for that.
pub const TOLD_TEXT_BYTES: usize = 204;
/// The addresses that the rank published.
pub const ADDRESSES: usize = offset_of!(Record, addresses);
/// Room for them.
pub const ADDRESSES_BYTES: usize = 2880;

/// A rank's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum RankState {
    /// Not started yet.
    Absent = 0,
    /// Its process runs.
    Started = 1,
    /// It uses MPI.
    Initialized = 2,
    /// It no longer uses MPI.
    Finalized = 3,
    /// It called abort.
    Aborted = 4,
    /// Its process ended without finalizing; written by the launcher.
    Gone = 5,
}

impl RankState {
    /// Reads the word; what is none of the states counts as [`RankState::Gone`]: nobody can rely on such a rank.
    pub fn of(word: u32) -> RankState {
        match word {
            0 => RankState::Absent,
            1 => RankState::Started,
            2 => RankState::Initialized,
            3 => RankState::Finalized,
            4 => RankState::Aborted,
            _ => RankState::Gone,
        }
    }

    /// What a rank in this state does, for people.
    pub fn words(self) -> &'static str {
        match self {
            RankState::Absent => "not started",
            RankState::Started => "not in MPI_Init yet",
            RankState::Initialized => "between MPI_Init and MPI_Finalize",
            RankState::Finalized => "done with MPI",
            RankState::Aborted => "ended the job",
            RankState::Gone => "lost",
        }
    }

    /// Whether nothing more can be expected from this rank although it did not finalize.
    pub fn is_lost(self) -> bool {
        matches!(self, RankState::Aborted | RankState::Gone)
    }
}

/// A record. No value of it ever exists: it says where its fields lie.
#[repr(C)]
struct Record {
    state: u32,
    ready: u32,
    length: u32,
    abort_status: u32,
    abort_length: u32,
    app: u32,
    slept: [u64; 2],
    lost_peer: u32,
    unused: [u8; 4],
    awaited_job: u64,
    unused_then: [u8; 8],
    awaited_rank: u32,
    awaited_length: u32,
    awaited_text: [u8; AWAITED_TEXT_BYTES],
    abort_text: [u8; ABORT_TEXT_BYTES],
    told: u32,
    unused_too: [u8; 12],
    told_places: [Told; 2],
    addresses: [u8; ADDRESSES_BYTES],
}

/// What a rank has counted at some time.
#[repr(C)]
struct Told {
    at_ns: u64,
    length: u32,
    text: [u8; TOLD_TEXT_BYTES],
}

const _: () = assert!(size_of::<Record>() as u64 == super::layout::PAGE);

#[cfg(test)]
mod tests {
    use super::*;
    use memoffset::span_of;

    #[test]
    fn fields_lie_where_the_table_says() {
        let words = [STATE, READY, LENGTH, ABORT_STATUS, ABORT_LENGTH, APP, SLEPT, LOST_PEER];
        assert_eq!(words, [0, 4, 8, 12, 16, 20, 24, 40]);
        assert_eq!(span_of!(Record, ..awaited_rank), 0..64, "the words have a cache line of their own");
        assert_eq!([AWAITED_JOB, AWAITED_RANK, AWAITED_LENGTH, AWAITED_TEXT], [48, 64, 68, 72]);
        assert_eq!((span_of!(Record, abort_text), span_of!(Record, addresses)), (192..768, 1216..4096));
        assert_eq!((TOLD, TOLD_PLACES), (768, [784, 1000]));
        assert_eq!([TOLD_AT, TOLD_LENGTH, TOLD_TEXT], [0, 8, 12]);
    }
}
