//! Parameters.

use crate::plan::Limits;
use ompi_core::file::{FileHints, HintChoice};
use ompi_core::framework::fbtl::AccessKind;

opal_core::params! {
    /// How much of the file a process gathers in memory at a time.
    pub static BUFFER_SIZE: Size = Int(4194304), "bytes", level 4;
    /// Pieces of the file that are longer on average are read or written by each process for itself.
    pub static PIECE_LIMIT: Size = Int(16384), "bytes", level 5;
    /// So many processes, or fewer, read for themselves, over the parts of the others.
    pub static READ_ALONE: Size = Int(4), "processes", level 5;
}

/// What parameters and a file's hints say. All processes of a job need the same.
pub fn limits(hints: &FileHints, direction: AccessKind) -> Limits {
    let sieves = direction == AccessKind::Read && hints.sieve_read != HintChoice::Disable;
    Limits {
        window: hints.gather_bytes.unwrap_or(BUFFER_SIZE.size() as u64).clamp(4096, 1 << 30),
        piece: PIECE_LIMIT.size() as u64,
        gatherers: hints.gatherers.map_or(u64::MAX, u64::from),
        wanted: wish(hints, direction) == HintChoice::Enable,
        alone: if sieves { READ_ALONE.size() as u64 } else { 0 },
    }
}

/// What a hint says about gathering.
pub fn wish(hints: &FileHints, direction: AccessKind) -> HintChoice {
    match direction {
        AccessKind::Read => hints.gather_read,
        AccessKind::Write => hints.gather_write,
    }
}
