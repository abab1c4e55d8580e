//! The number in the file.

use crate::raw::{load, store};
use alloc::ffi::CString;
use ompi_core::error::Result;
use ompi_core::file::failure;
use ompi_core::framework::sharedfp::Module;
use opal_core::sync::{AtomicBool, ConditionalLock, Ordering};
use opal_core::sys::{Errno, File};

/// A shared file pointer in a file.
pub struct LockedFile {
    path: CString,
    // Why there is none is said to who uses it.
    file: Result<File>,
    // Whether this process has its name to take away.
    named: AtomicBool,
    // Threads of a process share its lock on the file.
    turn: ConditionalLock<()>,
}

impl LockedFile {
    /// In this file, whose name goes when the pointer is no longer used if it is `named` still.
    pub fn new(path: CString, file: Result<File>, named: bool) -> LockedFile {
        LockedFile { path, file, named: AtomicBool::new(named), turn: ConditionalLock::new(()) }
    }

    /// Reads the number and replaces it, with nobody between.
    fn change(&self, to: impl FnOnce(u64) -> Option<u64>) -> Result<u64> {
        let file = self.file.as_ref().map_err(Clone::clone)?;
        let _turn = self.turn.lock();
        locked(file, to).map_err(|errno| failure(errno, &self.path, "cannot hold the shared file pointer"))
    }
}

fn locked(file: &File, to: impl FnOnce(u64) -> Option<u64>) -> core::result::Result<u64, Errno> {
    file.lock(0, BYTES, true)?;
    let changed = load(file).and_then(|number| {
        if let Some(next) = to(number) {
            store(file, next)?;
        }
        Ok(number)
    });
    file.unlock(0, BYTES)?;
    changed
}

impl Module for LockedFile {
    fn advance(&self, by: u64) -> Result<u64> {
        self.change(|number| Some(number.wrapping_add(by)))
    }

    fn set(&self, to: u64) -> Result<()> {
        self.change(|_| Some(to)).map(drop)
    }

    fn begin(&self, at: u64) -> Result<()> {
        if self.file.is_err() { Ok(()) } else { self.set(at) }
    }

    fn get(&self) -> Result<u64> {
        self.change(|_| None)
    }

    fn close(&self) -> Result<()> {
        let deleted = if self.named.swap(false, Ordering::Relaxed) { File::delete(&self.path) } else { Ok(()) };
        deleted.map_err(|errno| failure(errno, &self.path, "cannot be deleted"))
    }
}

/// Length of the number in the file.
const BYTES: u64 = 8;
