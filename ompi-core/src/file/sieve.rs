//! Data sieving: small pieces with gaps between them are moved a long range of the file at a time (Thakur, Gropp, Lusk 1999,
//! doi:10.1109/FMPC.1999.750599).
//!
//! Reading over gaps harms nobody. Writing them back could undo what others write there at the same time: it is done only
//! where a hint asks for it, with the range locked, and then every write through the file locks its range, too.
#![allow(unsafe_code)]

use super::hints::HintChoice;
use super::place::{FilePlace, Outcome, Stage, failed};
use crate::data::Data;
use crate::framework::fbtl::{AccessKind, Moved, Piece};
use opal_core::datatype::Convertor;

/// Whether an access had better go over the gaps; how many bytes of the file at a time.
pub fn range_bytes(target: &FilePlace<'_>, data: &Data<'_>, direction: AccessKind) -> Option<usize> {
    let (view, hints, bytes) = (target.view, &target.hints, data.bytes());
    let (wish, range) = match direction {
        AccessKind::Read => (hints.sieve_read, hints.read_bytes),
        AccessKind::Write => (hints.sieve_write, hints.write_bytes),
    };
    if wish == HintChoice::Disable
        || bytes == 0
        || view.is_whole()
        || !view.grows(target.position.saturating_add(bytes as u64))
    {
        return None;
    }
    let (mut pieces, mut seen, mut first, mut end) = (0u64, 0, None, 0);
    view.places(target.position, bytes, &mut |offset, bytes| {
        (pieces, seen, end) = (pieces + 1, seen + bytes as u64, offset + bytes as u64);
        first.get_or_insert(offset);
        pieces < SAMPLE
    });
    let gaps = end.saturating_sub(first?).saturating_sub(seen);
    let (piece, gap) = (seen / pieces, gaps / pieces);
    let pays = match direction {
        AccessKind::Read => piece + gap <= READ_MOST,
        AccessKind::Write => piece <= PIECE_MOST && gap <= GAP_MOST,
    };
    (pieces > 1 && (wish == HintChoice::Enable || pays)).then_some(range as usize)
}

/// Moves all of the data, or what comes before the end of the file or a failure.
///
/// # Safety
/// That of [`super::transfer`].
pub unsafe fn sieve(target: &FilePlace<'_>, data: &Data<'_>, direction: AccessKind, range_bytes: usize) -> Outcome {
    let total = data.bytes();
    let span = target.view.place(target.position + total as u64 - 1) + 1 - target.view.place(target.position);
    let stage = match Stage::new(range_bytes.min(span as usize)) {
        Ok(stage) => stage,
        Err(fault) => return fault.into(),
    };
    // SAFETY: the caller's promise.
    let mut memory = Memory { straight: data.contiguous(), convertor: unsafe { data.convertor() } };
    let mut done = 0;
    while done < total {
        let range = Range::new(target, done, total - done, stage.bytes());
        let (moved, all) = match direction {
            // SAFETY: the caller's promise.
            AccessKind::Read => unsafe { read(target, &range, &stage, &mut memory) },
            // SAFETY: the caller's promise.
            AccessKind::Write => unsafe { write(target, &range, &stage, &mut memory) },
        };
        done += range.bytes_within(target, moved.bytes);
        if let Some(errno) = moved.failed {
            return Outcome { bytes: done as u64, ended: Err(failed(target, done as u64, errno, direction)) };
        }
        if !all {
            break;
        }
    }
    Outcome { bytes: done as u64, ended: Ok(()) }
}

/// A part of the file, and what the access wants of it.
struct Range {
    // The first byte.
    start: u64,
    // To the end of the last piece.
    length: usize,
    // Which bytes of the access begin there.
    done: usize,
    // How many lie there.
    wanted: usize,
}

impl Range {
    /// From the byte `done` of the access on, `most` of them and `length` bytes of the file at most.
    fn new(target: &FilePlace<'_>, done: usize, most: usize, length: usize) -> Range {
        let (view, position) = (target.view, target.position + done as u64);
        if view.pattern.run_of(1).is_some() {
            // One piece in each turn: where the range ends follows from how much of the view lies before.
            let start = view.place(position);
            let before = view.bytes_within(start.saturating_add(length as u64));
            let wanted = usize::try_from(before.saturating_sub(position)).unwrap_or(usize::MAX).min(most);
            let end = view.place(position + wanted as u64 - 1) + 1;
            return Range { start, length: (end - start) as usize, done, wanted };
        }
        let (mut start, mut end, mut wanted) = (None, 0, 0);
        target.view.places(target.position + done as u64, most, &mut |offset, bytes| {
            let limit = *start.get_or_insert(offset) + length as u64;
            let some = limit.saturating_sub(offset).min(bytes as u64);
            if some > 0 {
                (end, wanted) = (end.max(offset + some), wanted + some as usize);
            }
            offset + (bytes as u64) < limit
        });
        let start = start.unwrap_or(0);
        Range { start, length: (end - start) as usize, done, wanted }
    }

    /// Calls back with the places of its pieces, from its first byte on.
    fn pieces(&self, target: &FilePlace<'_>, each: &mut dyn FnMut(usize, usize) -> bool) {
        target.view.places(target.position + self.done as u64, self.wanted, &mut |offset, bytes| {
            each((offset - self.start) as usize, bytes)
        });
    }

    /// How many of the wanted bytes lie within its first `length` bytes.
    fn bytes_within(&self, target: &FilePlace<'_>, length: usize) -> usize {
        if length >= self.length {
            return self.wanted;
        }
        let mut found = 0;
        self.pieces(target, &mut |at, bytes| {
            found += length.saturating_sub(at).min(bytes);
            at + bytes < length
        });
        found
    }
}

/// The user's data.
struct Memory {
    straight: Option<*mut u8>,
    convertor: Convertor,
}

/// What came of a range, and whether all of it was there.
///
/// # Safety
/// The memory is writable.
unsafe fn read(target: &FilePlace<'_>, range: &Range, stage: &Stage, memory: &mut Memory) -> (Moved, bool) {
    let piece = Piece { offset: range.start, at: stage.at(0), bytes: range.length };
    // SAFETY: the stage is as long as the range.
    let moved = unsafe { target.fbtl.transfer(target.file, &[piece], AccessKind::Read) };
    let mut done = range.done;
    memory.convertor.seek(done);
    range.pieces(target, &mut |at, bytes| {
        let there = moved.bytes.saturating_sub(at).min(bytes);
        match memory.straight {
            // SAFETY: these bytes of the stage were read, and the memory is writable by the caller's promise.
            Some(to) => unsafe { to.wrapping_add(done).copy_from_nonoverlapping(stage.at(at), there) },
            None => {
                // SAFETY: likewise.
                unsafe { memory.convertor.unpack(stage.at(at), there) };
            }
        }
        done += there;
        there == bytes
    });
    (moved, moved.bytes == range.length)
}

/// # Safety
/// The memory is readable.
unsafe fn write(target: &FilePlace<'_>, range: &Range, stage: &Stage, memory: &mut Memory) -> (Moved, bool) {
    let piece = Piece { offset: range.start, at: stage.at(0), bytes: range.length };
    let moved = target.lock.exclude(target.file, range.start, range.length as u64, || {
        if range.wanted < range.length {
            // SAFETY: the stage is as long as the range.
            let there = unsafe { target.fbtl.transfer(target.file, &[piece], AccessKind::Read) };
            if there.failed.is_some() {
                return Moved { bytes: 0, failed: there.failed };
            }
            // What the file does not have yet reads as zero.
            // SAFETY: likewise.
            unsafe { stage.at(there.bytes).write_bytes(0, range.length - there.bytes) };
        }
        let mut done = range.done;
        memory.convertor.seek(done);
        range.pieces(target, &mut |at, bytes| {
            match memory.straight {
                // SAFETY: a piece of the range; the memory is readable by the caller's promise.
                Some(from) => unsafe { stage.at(at).copy_from_nonoverlapping(from.wrapping_add(done), bytes) },
                None => {
                    // SAFETY: likewise.
                    unsafe { memory.convertor.pack(stage.at(at), bytes) };
                }
            }
            done += bytes;
            true
        });
        // SAFETY: the stage is as long as the range, of which every byte was set.
        unsafe { target.fbtl.transfer(target.file, &[piece], AccessKind::Write) }
    });
    (moved, moved.failed.is_none())
}

/// Pieces that are looked at to see whether it pays.
const SAMPLE: u64 = 64;
/// A piece and the gap behind it: to read more, and to copy the piece once more, takes longer than another call of the system.
const READ_MOST: u64 = 4 << 10;
/// Longer pieces are written by themselves.
const PIECE_MOST: u64 = 32 << 10;
/// Longer gaps cost more than a call of the system.
const GAP_MOST: u64 = 8 << 10;
