//! The number in the file.

use crate::raw::{load, store};
use alloc::ffi::CString;
use ompi_core::error::Result;
use ompi_core::file::failure;
use ompi_core::framework::sharedfp::Module;
use opal_core::sync::{ConditionalLock, Once};
use opal_core::sys::{Errno, File, OpenFlags};

/// A shared file pointer in a file.
pub struct LockedFile {
    path: CString,
    // The process that takes the file away.
    first: bool,
    file: Once<core::result::Result<File, Errno>>,
    // Threads of a process share its lock on the file.
    turn: ConditionalLock<()>,
}

impl LockedFile {
    /// Nothing is made before it is used.
    pub fn new(path: CString, first: bool) -> LockedFile {
        LockedFile { path, first, file: Once::new(), turn: ConditionalLock::new(()) }
    }

    /// Reads the number and replaces it, with nobody between.
    fn change(&self, to: impl FnOnce(u64) -> Option<u64>) -> Result<u64> {
        let how = OpenFlags { read: true, write: true, create: true, exclusive: false, mode: 0o600 };
        let file = self.file.call_once(|| File::open(&self.path, &how));
        let _turn = self.turn.lock();
        let changed = file.as_ref().map_err(|errno| *errno).and_then(|file| {
            file.lock(0, BYTES, true)?;
            let changed = load(file).and_then(|number| {
                if let Some(next) = to(number) {
                    store(file, next)?;
                }
                Ok(number)
            });
            file.unlock(0, BYTES)?;
            changed
        });
        changed.map_err(|errno| failure(errno, &self.path, "cannot hold the shared file pointer"))
    }
}

impl Module for LockedFile {
    fn advance(&self, by: u64) -> Result<u64> {
        self.change(|number| Some(number.wrapping_add(by)))
    }

    fn set(&self, to: u64) -> Result<()> {
        // Every new view puts the pointer at its beginning: where nobody has used it no file is made for that.
        let unused =
            !self.file.is_completed() && File::open(&self.path, &EXISTING).is_err_and(|errno| errno == Errno::NOENT);
        if to == 0 && unused { Ok(()) } else { self.change(|_| Some(to)).map(drop) }
    }

    fn get(&self) -> Result<u64> {
        self.change(|_| None)
    }

    fn close(&self) -> Result<()> {
        match self.first.then(|| File::delete(&self.path)) {
            // Nobody used it.
            None | Some(Ok(()) | Err(Errno::NOENT)) => Ok(()),
            Some(Err(errno)) => Err(failure(errno, &self.path, "cannot be deleted")),
        }
    }
}

/// To see whether the file is there.
const EXISTING: OpenFlags = OpenFlags { read: true, write: false, create: false, exclusive: false, mode: 0 };
/// Length of the number in the file.
const BYTES: u64 = 8;
