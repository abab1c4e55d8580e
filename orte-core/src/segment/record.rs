//! One rank's page: offsets from its start, and what its state word says.
//!
//! The rank writes its own page; the launcher writes the state of a rank before it starts and after it ended.

/// What the rank is: a [`RankState`].
pub const STATE: usize = 0;
/// 1 once the addresses are complete; readers sleep on it.
pub const READY: usize = 4;
/// Bytes of addresses.
pub const LENGTH: usize = 8;
/// The status given to abort.
pub const ABORT_STATUS: usize = 12;
/// Bytes of the message given to abort.
pub const ABORT_LENGTH: usize = 16;
/// Which of the job's programs the rank runs, counted from 0; written by the launcher before any rank starts.
pub const APP: usize = 20;
/// Since when the rank has waited in vain and when it last slept over that, in ns of the system's monotonic clock: two
/// words each. Both are 0 if it never did.
pub const SLEPT: usize = 24;
/// The message given to abort, UTF-8, cut if longer.
pub const ABORT_TEXT: usize = 64;
/// Room for that message.
pub const ABORT_TEXT_BYTES: usize = 704;
/// The addresses that the rank published.
pub const ADDRESSES: usize = 768;
/// Room for them.
pub const ADDRESSES_BYTES: usize = 4096 - ADDRESSES;

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
