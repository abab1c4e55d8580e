//! Calls of the system with faults, and transfers under way.
#![allow(unsafe_code)]

use crate::dice::{self, Fault, READ_BYTES, WRITTEN_BYTES};
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use ompi_core::file::{TransferCursor, system_call};
use ompi_core::framework::fbtl::{AccessKind, Moved, OngoingTransfer, Piece};
use opal_core::sys::{Errno, File, MemoryRun};

/// One call of the system for so many runs, or what the dice make of it.
///
/// # Safety
/// They are writable (to read into them) or readable (to write them), and at most MOST_RUNS.
pub unsafe fn call(file: &File, runs: &[MemoryRun], offset: u64, direction: AccessKind) -> Result<usize, Errno> {
    let wanted = runs.iter().map(|run| run.iov_len).sum();
    let most = match dice::roll(direction, wanted) {
        Fault::None => wanted,
        Fault::Short(bytes) => bytes,
        Fault::Interrupt => return Err(Errno::INTR),
        Fault::Refuse(errno) => return Err(errno),
        Fault::Truncate(bytes) => {
            cut(file, offset + bytes as u64);
            wanted
        }
    };
    // SAFETY: parts of the runs, no more of them.
    let moved = unsafe { system_call(file, &first(runs, most), offset, direction) }?;
    match direction {
        AccessKind::Read => dice::count(&READ_BYTES, moved as u64),
        AccessKind::Write => dice::count(&WRITTEN_BYTES, moved as u64),
    }
    Ok(moved)
}

/// What another program may do at any time. A file that is open for reading only stays as it is.
fn cut(file: &File, bytes: u64) {
    if file.size().is_ok_and(|size| size > bytes) {
        let _ = file.resize(bytes);
    }
}

/// The first bytes of runs.
fn first(runs: &[MemoryRun], mut left: usize) -> Vec<MemoryRun> {
    let mut some = Vec::with_capacity(runs.len());
    for run in runs {
        let bytes = run.iov_len.min(left);
        some.push(MemoryRun { iov_len: bytes, ..*run });
        left -= bytes;
        if left == 0 {
            break;
        }
    }
    some
}

/// Begins a transfer.
///
/// # Safety
/// The memory of each piece is writable (to read into it) or readable (to write it) until the transfer has ended.
pub unsafe fn start(file: &Arc<File>, pieces: &[Piece], direction: AccessKind) -> Box<dyn OngoingTransfer> {
    let (file, pieces, cursor) = (file.clone(), pieces.to_vec(), TransferCursor::default());
    Box::new(FaultyTransfer { file, pieces, direction, cursor })
}

/// One transfer, of which each look does a part.
struct FaultyTransfer {
    file: Arc<File>,
    pieces: Vec<Piece>,
    direction: AccessKind,
    cursor: TransferCursor,
}

// SAFETY: the pieces are memory that the caller of `start` has lent until the transfer has ended, to whichever thread moves it on.
unsafe impl Send for FaultyTransfer {}

impl OngoingTransfer for FaultyTransfer {
    fn poll(&mut self) -> Option<Moved> {
        let mut runs = Vec::new();
        let (offset, wanted) = self.cursor.together(&self.pieces, &mut runs);
        // SAFETY: the promise of `start`.
        let result = unsafe { call(&self.file, &runs, offset, self.direction) };
        self.cursor.advance(&self.pieces, wanted, result, self.direction)
    }
}
