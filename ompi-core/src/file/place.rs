//! Where data lies in a file and what became of it; what every way to move it shares.
#![allow(unsafe_code)]

use super::failure::failure;
use super::hints::{FileHints, HintChoice};
use super::view::View;
use crate::data::no_room;
use crate::error::{Fault, Result};
use crate::framework::fbtl::{self, AccessKind, Moved, Piece};
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ffi::CStr;
use opal_core::sync::ConditionalLock;
use opal_core::sys::{self, Errno};

/// A place in a file.
#[derive(Clone, Copy)]
pub struct FilePlace<'a> {
    /// The file.
    pub file: &'a Arc<sys::File>,
    /// Its name, for messages.
    pub path: &'a CStr,
    /// Who moves bytes.
    pub fbtl: &'static dyn fbtl::Module,
    /// What is seen of it.
    pub view: &'a View,
    /// In the view, in bytes.
    pub position: u64,
    /// How it is to be moved: gaps may be written back unless `sieve_write` disables it.
    pub hints: FileHints,
    /// Against others that write.
    pub lock: WriteLock<'a>,
}

impl FilePlace<'_> {
    /// Moves pieces, in their order. Where others may write gaps back the range is locked against them.
    ///
    /// # Safety
    /// That of [`fbtl::Module::transfer`].
    pub unsafe fn transfer(&self, pieces: &[Piece], direction: AccessKind) -> Moved {
        // SAFETY: the caller's promise.
        let transfer = || unsafe { self.fbtl.transfer(self.file, pieces, direction) };
        if direction == AccessKind::Read || self.hints.sieve_write == HintChoice::Disable {
            return transfer();
        }
        let from = pieces.iter().map(|piece| piece.offset).min().unwrap_or(0);
        let end = pieces.iter().map(|piece| piece.offset + piece.bytes as u64).max().unwrap_or(0);
        self.lock.exclude(self.file, from, end - from, transfer)
    }
}

/// What keeps two writers apart where one of them writes back what it has read.
#[derive(Clone, Copy)]
pub struct WriteLock<'a> {
    /// Threads that share the file share its locks, too.
    pub threads: &'a ConditionalLock<()>,
    /// Whether the access has locked all that it touches already.
    pub held: bool,
    /// Whether no other process has the file open.
    pub only: bool,
}

impl WriteLock<'_> {
    /// Does something with a part of the file while nobody else does.
    pub fn exclude(&self, file: &sys::File, from: u64, bytes: u64, act: impl FnOnce() -> Moved) -> Moved {
        // The system takes no bytes as all of them.
        if self.held || bytes == 0 {
            return act();
        }
        let _alone = self.threads.lock();
        if self.only {
            return act();
        }
        if let Err(errno) = file.lock(from, bytes, true) {
            return Moved { bytes: 0, failed: Some(errno) };
        }
        let moved = act();
        match file.unlock(from, bytes) {
            Ok(()) => moved,
            Err(errno) => Moved { failed: moved.failed.or(Some(errno)), ..moved },
        }
    }
}

/// Memory for data on its way.
pub struct Stage(Vec<u8>);

impl Stage {
    /// So many bytes, of any value.
    pub fn new(bytes: usize) -> Result<Stage> {
        let mut stage = Vec::new();
        stage.try_reserve_exact(bytes).map_err(|_| no_room(bytes))?;
        Ok(Stage(stage))
    }

    /// How many.
    pub fn bytes(&self) -> usize {
        self.0.capacity()
    }

    /// Where one of them lies.
    pub fn at(&self, byte: usize) -> *mut u8 {
        self.0.as_ptr().cast_mut().wrapping_add(byte)
    }
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

/// The fault of a read or write that stopped after some bytes.
pub fn failed(target: &FilePlace<'_>, done: u64, errno: Errno, direction: AccessKind) -> Fault {
    failed_at(target.path, target.view.place(target.position + done), done, errno, direction)
}

/// The same where the byte of the file is known.
pub fn failed_at(path: &CStr, offset: u64, done: u64, errno: Errno, direction: AccessKind) -> Fault {
    let what = match direction {
        AccessKind::Read => "cannot be read",
        AccessKind::Write => "cannot be written",
    };
    failure(errno, path, &format!("{what} at byte {offset}, after {done} bytes of this call"))
}
