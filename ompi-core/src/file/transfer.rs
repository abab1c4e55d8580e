//! One process moves its data between memory and the places that a view shows.
#![allow(unsafe_code)]

use super::hints::HintChoice;
use super::place::{FilePlace, Outcome, Stage, failed};
use super::sieve;
use crate::data::Data;
use crate::error::{Class, Fault};
use crate::framework::fbtl::{AccessKind, OngoingTransfer, Piece};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// Moves all of the data, or what comes before the end of the file or a failure.
///
/// # Safety
/// The data is readable (to write it) or writable (to read into it).
pub unsafe fn transfer(target: &FilePlace<'_>, data: &Data<'_>, direction: AccessKind) -> Outcome {
    let total = data.bytes();
    if let Err(fault) = target.view.check_reach(target.position.saturating_add(total as u64)) {
        return fault.into();
    }
    if let Some(at) = data.contiguous().filter(|_| target.view.is_whole() && total > 0) {
        let piece = Piece { offset: target.view.place(target.position), at, bytes: total };
        // SAFETY: all of the data.
        let moved = unsafe { target.transfer(&[piece], direction) };
        let done = moved.bytes as u64;
        let ended = moved.failed.map_or(Ok(()), |errno| Err(failed(target, done, errno, direction)));
        return Outcome { bytes: done, ended };
    }
    if let Some(bytes) = sieve::range_bytes(target, data, direction) {
        // SAFETY: the caller's promise.
        return unsafe { sieve::sieve(target, data, direction, bytes) };
    }
    let straight = data.contiguous();
    let stage = match Stage::new(if straight.is_none() { total.min(STAGE) } else { 0 }) {
        Ok(stage) => stage,
        Err(fault) => return fault.into(),
    };
    // SAFETY: the caller's promise.
    let mut convertor = unsafe { data.convertor() };
    let (mut pieces, mut done) = (Vec::new(), 0);
    while done < total {
        let at = straight.map_or(stage.at(0), |at| at.wrapping_add(done));
        let most = if straight.is_some() { total - done } else { stage.bytes().min(total - done) };
        let some = list(target, done, at, most, PIECES, &mut pieces);
        if straight.is_none() && direction == AccessKind::Write {
            convertor.seek(done);
            // SAFETY: the stage is as long as the pieces.
            unsafe { convertor.pack(at, some) };
        }
        // SAFETY: pieces of the data, or of the stage.
        let moved = unsafe { target.transfer(&pieces, direction) };
        if straight.is_none() && direction == AccessKind::Read {
            convertor.seek(done);
            // SAFETY: so many bytes of the stage were read.
            unsafe { convertor.unpack(at, moved.bytes) };
        }
        done += moved.bytes;
        if let Some(errno) = moved.failed {
            return Outcome { bytes: done as u64, ended: Err(failed(target, done as u64, errno, direction)) };
        }
        if moved.bytes < some || some == 0 {
            break;
        }
    }
    let ended = match direction == AccessKind::Write && done < total {
        true => Err(Fault::new(Class::Io).because("the view shows no data, and so there is no place to write to")),
        false => Ok(()),
    };
    Outcome { bytes: done as u64, ended }
}

/// An access under way.
pub struct Underway {
    /// Who moves its bytes.
    pub transfer: Box<dyn OngoingTransfer>,
    /// Which way.
    pub direction: AccessKind,
    // Where in the file, and how many bytes.
    places: Vec<(u64, usize)>,
}

impl Underway {
    /// Where in the file one of its bytes lies.
    pub fn place(&self, byte: usize) -> u64 {
        let mut before = 0;
        for (offset, bytes) in &self.places {
            if byte - before < *bytes {
                return offset + (byte - before) as u64;
            }
            before += bytes;
        }
        self.places.last().map_or(0, |(offset, bytes)| offset + *bytes as u64)
    }
}

/// Begins to move the data where that can go on beside the program: it lies in one piece in memory and in few in the file, and nothing
/// has to be locked. `None`: it has to be done at once.
///
/// # Safety
/// The data is readable (to write it) or writable (to read into it) until the access has ended.
pub unsafe fn start(target: &FilePlace<'_>, data: &Data<'_>, direction: AccessKind) -> Option<Underway> {
    let (at, total) = (data.contiguous()?, data.bytes());
    let locks = target.lock.held || direction == AccessKind::Write && target.hints.sieve_write != HintChoice::Disable;
    if locks || total == 0 || target.view.check_reach(target.position.saturating_add(total as u64)).is_err() {
        return None;
    }
    let mut pieces = Vec::new();
    if list(target, 0, at, total, PIECES_UNDERWAY, &mut pieces) < total {
        return None;
    }
    // SAFETY: pieces of the data.
    let transfer = unsafe { target.fbtl.start(target.file, &pieces, direction) }?;
    let places = pieces.iter().map(|piece| (piece.offset, piece.bytes)).collect();
    Some(Underway { transfer, direction, places })
}

/// The pieces of the next bytes, `most` bytes and `count` pieces at most; how many bytes.
fn list(target: &FilePlace<'_>, done: usize, at: *mut u8, most: usize, count: usize, pieces: &mut Vec<Piece>) -> usize {
    pieces.clear();
    let mut some = 0;
    target.view.places(target.position + done as u64, most, &mut |offset, bytes| {
        match pieces.last_mut().filter(|last| last.offset + last.bytes as u64 == offset) {
            Some(last) => last.bytes += bytes,
            None => pieces.push(Piece { offset, at: at.wrapping_add(some), bytes }),
        }
        some += bytes;
        pieces.len() < count
    });
    some
}

/// Room for data that does not lie together in memory.
const STAGE: usize = 4 << 20;
/// Pieces that are listed at a time.
const PIECES: usize = 1024;
/// And of an access under way: each costs a call of the system when the one before has ended.
const PIECES_UNDERWAY: usize = 16;
