//! Parameters.

use crate::plan::Limits;

opal_core::params! {
    /// How much of the file a process gathers in memory at a time.
    pub static BUFFER_SIZE: Size = Int(4194304), "bytes", level 4;
    /// Pieces of the file that are longer on average are read or written by each process for itself.
    pub static PIECE_LIMIT: Size = Int(16384), "bytes", level 5;
}

/// The parameters in force. All processes of a job need the same.
pub fn limits() -> Limits {
    Limits { window: BUFFER_SIZE.size().clamp(4096, 1 << 30) as u64, piece: PIECE_LIMIT.size() as u64 }
}
