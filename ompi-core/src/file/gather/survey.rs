//! What one process wants of every window, found in one pass over its places.

use super::super::place::FilePlace;
use super::runs::{Joining, WindowRun};
use super::windows::Windows;
use crate::error::{Class, Result};
use alloc::vec::Vec;
use core::ops::Range;

/// What a process wants of one window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// Its first byte, in the process's data.
    pub position: usize,
    /// How many bytes.
    pub bytes: usize,
    /// In how many runs.
    pub runs: usize,
}

impl Cell {
    /// As all are told.
    pub fn words(&self) -> [u64; CELL_WORDS] {
        [self.position as u64, (self.runs as u64) << 32 | self.bytes as u64]
    }

    /// Of what another process has told.
    pub fn of_words([position, lengths]: [u64; CELL_WORDS]) -> Cell {
        Cell { position: position as usize, bytes: lengths as u32 as usize, runs: (lengths >> 32) as usize }
    }
}

/// Of a cell in a message.
pub const CELL_WORDS: usize = 2;

/// The cells of all windows: those of the first process, round by round, then those of the next one.
pub fn survey(target: &FilePlace<'_>, bytes: usize, windows: &dyn Windows, processes: usize) -> Result<Vec<Cell>> {
    let rounds = windows.rounds();
    let mut cells: Vec<Cell> = Vec::new();
    cells.try_reserve_exact(rounds * processes).map_err(|_| Class::NoMem)?;
    cells.resize(rounds * processes, Cell::default());
    let window = |index: usize| windows.window(index / rounds, index % rounds);
    if target.view.is_regular() {
        for (index, cell) in cells.iter_mut().enumerate() {
            *cell = regular_cell(target, bytes as u64, &window(index));
        }
        return Ok(cells);
    }
    let (mut index, mut here, mut end, mut done) = (0, window(0), 0, 0);
    target.view.places(target.position, bytes, &mut |offset, bytes| {
        let (mut from, until) = (offset, offset + bytes as u64);
        while from < until {
            while from >= here.end {
                index += 1;
                if index == cells.len() {
                    return false;
                }
                here = window(index);
            }
            let (cell, some) = (&mut cells[index], until.min(here.end) - from);
            if cell.runs == 0 {
                cell.position = done;
            }
            // A run that goes on where the last one ended is one with it, but not over the edge of a window.
            cell.runs += usize::from(cell.runs == 0 || from != end);
            cell.bytes += some as usize;
            (done, from) = (done + some as usize, from + some);
            end = from;
        }
        true
    });
    Ok(cells)
}

/// The cell of a window where all turns of the view are one run each: no run needs to be looked at.
fn regular_cell(target: &FilePlace<'_>, bytes: u64, window: &Range<u64>) -> Cell {
    let (view, begin) = (target.view, target.position);
    let (from, end) = (view.bytes_within(window.start).max(begin), view.bytes_within(window.end).min(begin + bytes));
    if from >= end {
        return Cell::default();
    }
    let turn = |position: u64| position / view.pattern.size() as u64;
    let runs = if view.is_whole() { 1 } else { turn(end - 1) - turn(from) + 1 };
    Cell { position: (from - begin) as usize, bytes: (end - from) as usize, runs: runs as usize }
}

/// Adds the runs of one cell to a list, counted from the beginning of its window.
pub fn list(target: &FilePlace<'_>, cell: &Cell, window: u64, list: &mut Vec<WindowRun>) {
    list.reserve(cell.runs);
    let mut joining = Joining::new(list);
    target.view.places(target.position + cell.position as u64, cell.bytes, &mut |offset, bytes| {
        joining.add(WindowRun { offset: (offset - window) as u32, bytes: bytes as u32 });
        true
    });
    joining.end();
}
