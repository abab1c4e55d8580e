//! Pieces that follow each other in the file go in one call of the system.
#![allow(unsafe_code)]

use alloc::vec::Vec;
use ompi_core::framework::fbtl::{AccessKind, Module, Moved, Piece};
use opal_core::sys::{Errno, File, MOST_RUNS, MemoryRun};

/// preadv and pwritev.
pub struct Posix;

impl Module for Posix {
    unsafe fn transfer(&self, file: &File, pieces: &[Piece], direction: AccessKind) -> Moved {
        let mut runs = Vec::new();
        let (mut next, mut skip, mut bytes) = (0, 0, 0);
        while next < pieces.len() {
            let (offset, wanted) = together(&pieces[next..], skip, &mut runs);
            let moved = match direction {
                // SAFETY: parts of the pieces, which are writable by the caller's promise; no more than MOST_RUNS.
                AccessKind::Read => unsafe { file.read_at(&runs, offset) },
                // SAFETY: likewise, readable.
                AccessKind::Write => unsafe { file.write_at(&runs, offset) },
            };
            let mut moved = match moved {
                Ok(0) if direction == AccessKind::Read && wanted > 0 => return Moved { bytes, failed: None },
                Ok(0) if wanted > 0 => return Moved { bytes, failed: Some(Errno::IO) },
                Ok(moved) => moved,
                Err(errno) => return Moved { bytes, failed: Some(errno) },
            };
            bytes += moved;
            // The next byte: behind whole pieces, and within one that was cut.
            while next < pieces.len() && moved >= pieces[next].bytes - skip {
                moved -= pieces[next].bytes - skip;
                (next, skip) = (next + 1, 0);
            }
            skip += moved;
        }
        Moved { bytes, failed: None }
    }
}

/// The memory of those of the first pieces that follow each other in the file, from byte `skip` of the first on: where that is in
/// the file, and how many bytes.
fn together(pieces: &[Piece], skip: usize, runs: &mut Vec<MemoryRun>) -> (u64, usize) {
    runs.clear();
    let begin = pieces[0].offset + skip as u64;
    let (mut end, mut skip) = (begin, skip);
    for piece in pieces {
        if runs.len() == MOST_RUNS || piece.offset + skip as u64 != end {
            break;
        }
        let bytes = piece.bytes - skip;
        runs.push(MemoryRun { iov_base: piece.at.wrapping_add(skip).cast(), iov_len: bytes });
        (end, skip) = (end + bytes as u64, 0);
    }
    (begin, (end - begin) as usize)
}
