//! What is done with files as a whole.

use core::ffi::CStr;
use ompi_core::framework::fs::{Module, OpenedFile, Opening};
use opal_core::sys::{Errno, File};

/// Files of this kind of file system.
pub struct TemplateModule;

impl Module for TemplateModule {
    fn open(&self, _path: &CStr, _how: &Opening) -> Result<OpenedFile, Errno> {
        // 3. `File::open` with what this file system wants beside.
        Err(Errno::NOSYS)
    }

    fn delete(&self, _path: &CStr) -> Result<(), Errno> {
        Err(Errno::NOSYS)
    }

    fn size(&self, _file: &File) -> Result<u64, Errno> {
        // 4. As others see it: whatever this process has cached.
        Err(Errno::NOSYS)
    }

    fn resize(&self, _file: &File, _bytes: u64) -> Result<(), Errno> {
        Err(Errno::NOSYS)
    }

    fn reserve(&self, _file: &File, _bytes: u64) -> Result<(), Errno> {
        Err(Errno::NOSYS)
    }

    fn sync(&self, _file: &File) -> Result<(), Errno> {
        // 5. Afterwards what was written outlives the machine, and others see it.
        Err(Errno::NOSYS)
    }
}
