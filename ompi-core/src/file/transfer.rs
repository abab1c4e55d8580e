//! One process moves its data between memory and the places that a view shows.
#![allow(unsafe_code)]

use super::failure::failure;
use super::view::View;
use crate::data::{Data, no_room};
use crate::error::{Class, Fault, Result};
use crate::framework::fbtl::{self, AccessKind, Piece};
use alloc::format;
use alloc::vec::Vec;
use core::ffi::CStr;
use opal_core::sys::{self, Errno};

/// A place in a file.
#[derive(Clone, Copy)]
pub struct FilePlace<'a> {
    /// The file.
    pub file: &'a sys::File,
    /// Its name, for messages.
    pub path: &'a CStr,
    /// Who moves bytes.
    pub fbtl: &'static dyn fbtl::Module,
    /// What is seen of it.
    pub view: &'a View,
    /// In the view, in bytes.
    pub position: u64,
}

/// What became of an access: the bytes that were moved, and what ended it early if that was no end of the file.
#[derive(Debug)]
pub struct Outcome {
    /// From the first on.
    pub bytes: u64,
    /// What was wrong.
    pub ended: Result<()>,
}

impl From<Fault> for Outcome {
    fn from(fault: Fault) -> Outcome {
        Outcome { bytes: 0, ended: Err(fault) }
    }
}

/// Moves all of the data, or what comes before the end of the file or a failure.
///
/// # Safety
/// The data is readable (to write it) or writable (to read into it).
pub unsafe fn transfer(target: &FilePlace<'_>, data: &Data<'_>, direction: AccessKind) -> Outcome {
    let total = data.bytes();
    if let Err(fault) = target.view.check_reach(target.position.saturating_add(total as u64)) {
        return fault.into();
    }
    let straight = data.contiguous();
    let mut stage = Vec::new();
    if straight.is_none() && total > 0 {
        let bytes = total.min(STAGE);
        if stage.try_reserve_exact(bytes).is_err() {
            return no_room(bytes).into();
        }
        stage.resize(bytes, 0);
    }
    // SAFETY: the caller's promise.
    let mut convertor = unsafe { data.convertor() };
    let (mut pieces, mut done) = (Vec::new(), 0);
    while done < total {
        let at = straight.map_or(stage.as_mut_ptr(), |at| at.wrapping_add(done));
        let most = if straight.is_some() { total - done } else { stage.len().min(total - done) };
        let some = list(target, done, at, most, &mut pieces);
        if straight.is_none() && direction == AccessKind::Write {
            convertor.seek(done);
            // SAFETY: the stage is as long as the pieces.
            unsafe { convertor.pack(at, some) };
        }
        // SAFETY: pieces of the data, or of the stage.
        let moved = unsafe { target.fbtl.transfer(target.file, &pieces, direction) };
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

/// The pieces of the next bytes, `most` at most; how many bytes.
fn list(target: &FilePlace<'_>, done: usize, at: *mut u8, most: usize, pieces: &mut Vec<Piece>) -> usize {
    pieces.clear();
    let mut some = 0;
    target.view.places(target.position + done as u64, most, &mut |offset, bytes| {
        match pieces.last_mut().filter(|last| last.offset + last.bytes as u64 == offset) {
            Some(last) => last.bytes += bytes,
            None => pieces.push(Piece { offset, at: at.wrapping_add(some), bytes }),
        }
        some += bytes;
        pieces.len() < PIECES
    });
    some
}

/// The fault of a read or write that stopped after some bytes.
pub fn failed(target: &FilePlace<'_>, done: u64, errno: Errno, direction: AccessKind) -> Fault {
    let what = match direction {
        AccessKind::Read => "cannot be read",
        AccessKind::Write => "cannot be written",
    };
    let offset = target.view.place(target.position + done);
    failure(errno, target.path, &format!("{what} at byte {offset}, after {done} bytes of this call"))
}

/// Room for data that does not lie together in memory.
const STAGE: usize = 4 << 20;
/// Pieces that are listed at a time.
const PIECES: usize = 1024;
