//! What all components of framework fbtl share: one call of the system moves the pieces that follow each other in the file. A call
//! that moves fewer bytes, or that a signal ends, is followed by others.
#![allow(unsafe_code)]

use crate::framework::fbtl::{AccessKind, Moved, Piece};
use alloc::vec::Vec;
use opal_core::sys::{Errno, File, MOST_RUNS, MemoryRun};

/// How far the transfer of some pieces has come.
#[derive(Clone, Copy, Debug, Default)]
pub struct TransferCursor {
    // The piece with the next byte, and how many of its bytes were moved.
    next: usize,
    skip: usize,
    /// Bytes that were moved.
    pub bytes: usize,
}

impl TransferCursor {
    /// Whether all are moved.
    pub fn is_done(&self, pieces: &[Piece]) -> bool {
        self.next >= pieces.len()
    }

    /// Lists the memory of those of the next pieces that follow each other in the file: where that is in the file, and how many
    /// bytes.
    ///
    /// # Panics
    /// If all are moved.
    pub fn together(&self, pieces: &[Piece], runs: &mut Vec<MemoryRun>) -> (u64, usize) {
        runs.clear();
        let begin = pieces[self.next].offset + self.skip as u64;
        let (mut end, mut skip) = (begin, self.skip);
        for piece in &pieces[self.next..] {
            if runs.len() == MOST_RUNS || piece.offset + skip as u64 != end {
                break;
            }
            let bytes = piece.bytes - skip;
            runs.push(MemoryRun { iov_base: piece.at.wrapping_add(skip).cast(), iov_len: bytes });
            (end, skip) = (end + bytes as u64, 0);
        }
        (begin, (end - begin) as usize)
    }

    /// Goes on after a call of the system for `wanted` bytes; what became of the transfer if it ends here.
    pub fn advance(
        &mut self,
        pieces: &[Piece],
        wanted: usize,
        result: Result<usize, Errno>,
        direction: AccessKind,
    ) -> Option<Moved> {
        let mut moved = match result {
            Ok(0) if direction == AccessKind::Read && wanted > 0 => {
                return Some(Moved { bytes: self.bytes, failed: None });
            }
            Ok(0) if wanted > 0 => return Some(Moved { bytes: self.bytes, failed: Some(Errno::IO) }),
            Ok(moved) => moved,
            Err(Errno::INTR) => return None,
            Err(errno) => return Some(Moved { bytes: self.bytes, failed: Some(errno) }),
        };
        self.bytes += moved;
        // The next byte: behind whole pieces, and within one that was cut.
        while self.next < pieces.len() && moved >= pieces[self.next].bytes - self.skip {
            moved -= pieces[self.next].bytes - self.skip;
            (self.next, self.skip) = (self.next + 1, 0);
        }
        self.skip += moved;
        self.is_done(pieces).then_some(Moved { bytes: self.bytes, failed: None })
    }
}

/// One call of the system for so many runs.
///
/// # Safety
/// They are writable (to read into them) or readable (to write them), and at most MOST_RUNS.
pub unsafe fn system_call(file: &File, runs: &[MemoryRun], offset: u64, direction: AccessKind) -> Result<usize, Errno> {
    match direction {
        // SAFETY: the caller's promise.
        AccessKind::Read => unsafe { file.read_at(runs, offset) },
        // SAFETY: the caller's promise.
        AccessKind::Write => unsafe { file.write_at(runs, offset) },
    }
}

/// What [`Module::transfer`](crate::framework::fbtl::Module::transfer) promises, by preadv(2) and pwritev(2).
///
/// # Safety
/// That of [`Module::transfer`](crate::framework::fbtl::Module::transfer).
pub unsafe fn transfer_at_once(file: &File, pieces: &[Piece], direction: AccessKind) -> Moved {
    // SAFETY: parts of the pieces, no more than MOST_RUNS.
    transfer_by(pieces, direction, |runs, offset| unsafe { system_call(file, runs, offset, direction) })
}

/// The same by a function that stands for the system's calls: it gets parts of the pieces, at most MOST_RUNS, and where in the file they
/// lie; it says how many bytes it has moved.
pub fn transfer_by(
    pieces: &[Piece],
    direction: AccessKind,
    mut call: impl FnMut(&[MemoryRun], u64) -> Result<usize, Errno>,
) -> Moved {
    let (mut runs, mut cursor) = (Vec::new(), TransferCursor::default());
    if let [piece] = pieces {
        // Mostly all of it, and without memory for a list.
        let run = [MemoryRun { iov_base: piece.at.cast(), iov_len: piece.bytes }];
        if let Some(moved) = cursor.advance(pieces, piece.bytes, call(&run, piece.offset), direction) {
            return moved;
        }
    }
    while !cursor.is_done(pieces) {
        let (offset, wanted) = cursor.together(pieces, &mut runs);
        if let Some(moved) = cursor.advance(pieces, wanted, call(&runs, offset), direction) {
            return moved;
        }
    }
    Moved { bytes: cursor.bytes, failed: None }
}
