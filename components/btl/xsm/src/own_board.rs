//! This process's own board.

use crate::board::Board;
use crate::board_file::BoardFile;
use crate::wire::{self, CLAIMED};
use alloc::string::String;
use opal_core::framework::btl::ProcessName;

/// The board, with its file, which stays open so that others find it.
#[derive(Debug)]
pub struct Own {
    /// The file.
    pub file: BoardFile,
    /// The header.
    pub board: Board,
    /// This process.
    pub name: ProcessName,
    /// Its stores are ordered by a sleeper's membarrier.
    pub registered: bool,
}

impl Own {
    /// A new one. `Err` with half a sentence.
    pub fn new(name: ProcessName, registered: bool) -> Result<Own, String> {
        let file = BoardFile::create()?;
        let header = file.map(0, wire::HEADER_BYTES, None)?;
        Ok(Own { file, board: Board { header }, name, registered })
    }

    /// Frees the cells that both sides have left.
    pub fn sweep(&self) {
        for cell in 0..wire::CELLS {
            let is_left = self.board.state(cell) == CLAIMED && self.board.claimed(cell).left & BOTH == BOTH;
            if is_left && self.file.clear_cell(cell) {
                self.board.free(cell);
            }
        }
    }
}

const BOTH: u32 = 0b11;
