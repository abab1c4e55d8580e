//! The calls of the system, one for each method.

use core::ffi::CStr;
use ompi_core::framework::fs::{Module, Opening};
use opal_core::sys::{Errno, File, OpenFlags};

/// Files of the system.
pub struct Ufs;

impl Module for Ufs {
    fn open(&self, path: &CStr, how: &Opening) -> Result<File, Errno> {
        let flags = OpenFlags {
            read: how.reads,
            write: how.writes,
            create: how.creates,
            exclusive: how.exclusive,
            mode: how.permissions,
        };
        File::open(path, &flags)
    }

    fn delete(&self, path: &CStr) -> Result<(), Errno> {
        File::delete(path)
    }

    fn size(&self, file: &File) -> Result<u64, Errno> {
        file.size()
    }

    fn resize(&self, file: &File, bytes: u64) -> Result<(), Errno> {
        file.resize(bytes)
    }

    fn reserve(&self, file: &File, bytes: u64) -> Result<(), Errno> {
        // The system takes no call for nothing.
        if bytes == 0 { Ok(()) } else { file.reserve(bytes) }
    }

    fn sync(&self, file: &File) -> Result<(), Errno> {
        file.sync()
    }
}
