//! Parameters.

use crate::plan::Limits;
use ompi_core::file::{FileHints, HintChoice};
use ompi_core::framework::fbtl::AccessKind;

opal_core::params! {
    /// How much of the file a process gathers in memory at a time.
    pub static BUFFER_SIZE: Size = Int(4194304), "bytes", level 4;
    /// Pieces of the file that are longer on average are read or written by each process for itself.
    pub static PIECE_LIMIT: Size = Int(16384), "bytes", level 5;
}

/// What parameters and a file's hints say. All processes of a job need the same.
pub fn limits(hints: &FileHints, direction: AccessKind) -> Limits {
    Limits {
        window: hints.gather_bytes.unwrap_or(BUFFER_SIZE.size() as u64).clamp(4096, 1 << 30),
        piece: PIECE_LIMIT.size() as u64,
        gatherers: hints.gatherers.map_or(u64::MAX, u64::from),
        wanted: wish(hints, direction) == HintChoice::Enable,
    }
}

/// What a hint says about gathering.
pub fn wish(hints: &FileHints, direction: AccessKind) -> HintChoice {
    match direction {
        AccessKind::Read => hints.gather_read,
        AccessKind::Write => hints.gather_write,
    }
}
