//! What framework fs calls: all of it by calls of the system, but that stripes are not to be had.

use core::ffi::CStr;
use ompi_core::file::Striping;
use ompi_core::framework::fs::{FRAMEWORK, Module, OpenedFile, Opening};
use opal_core::sys::{self, Errno};
use opal_core::verbose;

/// Files of the system.
pub struct Ufs;

impl Module for Ufs {
    fn open(&self, path: &CStr, how: &Opening) -> Result<OpenedFile, Errno> {
        let file = how.open(path)?;
        if how.creates && how.striping.is_wanted() {
            refuse_stripes(path, &how.striping);
        }
        Ok(file.into())
    }
}

/// The file is as the system makes it.
#[cold]
fn refuse_stripes(path: &CStr, striping: &Striping) {
    let why = match sys::is_on_lustre(path) {
        true => {
            "component fs/lustre is not in this library or not wanted; use `lfs setstripe` on the folder beforehand"
        }
        false => "its file system does not lay files over several devices at the program's wish",
    };
    verbose!(FRAMEWORK, 10, "ufs: {}: {striping:?} is not done: {why}", path.to_string_lossy());
}
