//! The cell of two processes. Both look for it, at any time, and neither waits for the other: who finds none claims one.
//!
//! Both may claim at the same time. Each claim has a number; after its own claim a process looks again, and of several cells for
//! the same guest the one with the lowest number counts. A claim that was begun and not finished may have a lower number, so it is
//! awaited: a few stores. The orders of both are those of SeqCst operations on the count of claims and on states.

use crate::board::{Board, Claimed};
use crate::wire::{self, CLAIMED, CLAIMING};
use opal_core::framework::btl::ProcessName;
use opal_core::sys;

/// The cell for a guest on a board; `None` if all are in use.
pub fn cell(board: &Board, guest: ProcessName) -> Option<usize> {
    if let Some(cell) = find(board, guest) {
        return Some(cell);
    }
    let own = board.begin_claim(guest)?;
    board.finish_claim(own);
    let best = find(board, guest).unwrap_or(own);
    if best != own {
        // Nobody has written to it: the other process chose as this one does.
        board.free(own);
    }
    Some(best)
}

fn find(board: &Board, guest: ProcessName) -> Option<usize> {
    let of_guest = |cell: usize| {
        let Claimed { claim, guest: found, left } = claimed(board, cell)?;
        (found == guest && left == 0).then_some((claim, cell))
    };
    (0..wire::CELLS).filter_map(of_guest).min().map(|(_, cell)| cell)
}

/// A process that dies between two stores would be awaited for ever: it counts as having claimed nothing.
fn claimed(board: &Board, cell: usize) -> Option<Claimed> {
    let until_ns = sys::monotonic_ns() + CLAIMING_NS;
    while board.state(cell) == CLAIMING && sys::monotonic_ns() < until_ns {
        sys::yield_now();
    }
    (board.state(cell) == CLAIMED).then(|| board.claimed(cell))
}

const CLAIMING_NS: u64 = 1_000_000_000;
