//! The neighbours of a process in its topology. MPI 5.0 §8.6.

use alloc::boxed::Box;

/// The processes with which this one exchanges blocks in neighborhood collectives, in the order of the blocks.
/// MPI_PROC_NULL's block is neither sent nor written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Neighbors {
    /// Whose blocks come.
    pub sources: Box<[i32]>,
    /// The processes to which blocks go.
    pub destinations: Box<[i32]>,
    /// Blocks 2d and 2d + 1 belong to the negative and the positive direction of dimension d: what goes one way comes
    /// from the other, also where both lead to the same process (MPI 5.0 §8.6).
    pub cartesian: bool,
}
