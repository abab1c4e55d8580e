//! Which part of the file a process gathers in which round.

use super::extent::PAGE;
use core::ops::Range;

/// The parts of the file that each process gathers, one in each round. The same on all processes.
pub trait Windows {
    /// Rounds.
    fn rounds(&self) -> usize;

    /// What a process gathers in a round; empty if there is nothing left. Those of one process lie behind those of lower ranks, and in
    /// the order of the rounds; no window is longer than [`LONGEST`].
    fn window(&self, rank: usize, round: usize) -> Range<u64>;

    /// No window has more bytes that processes want. Bytes that several want count once.
    fn most_bytes(&self) -> usize;
}

/// Of a window.
pub const LONGEST: u64 = u32::MAX as u64 / PAGE * PAGE;
