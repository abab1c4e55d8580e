//! Parameters.

use ompi_core::file::FileHints;
use ompi_core::file::gather::GatherLimits;
use ompi_core::framework::fbtl::AccessKind;

opal_core::params! {
    /// How much memory a process takes to gather in.
    pub static BUFFER_SIZE: Size = Int(16777216), "bytes", level 4;
    /// Pieces of the file that are longer on average are read or written by each process for itself; 8 times as long to write where data is
    /// copied once.
    pub static PIECE_LIMIT: Size = Int(16384), "bytes", level 5;
}

/// What parameters and a file's hints say. All processes of a job need the same.
pub fn limits(hints: &FileHints, direction: AccessKind) -> GatherLimits {
    let limits = GatherLimits::new(BUFFER_SIZE.size() as u64, PIECE_LIMIT.size() as u64);
    limits.hinted(hints, direction)
}
