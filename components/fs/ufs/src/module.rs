//! The calls of the system, one for each method.

use core::ffi::CStr;
use ompi_core::file::{AccessStyle, Striping};
use ompi_core::framework::fs::{FRAMEWORK, Module, Opening};
use opal_core::sys::{Errno, File, FileOrder, OpenFlags};
use opal_core::verbose;

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
        let file = File::open(path, &flags)?;
        if how.creates && how.striping.is_wanted() {
            refuse_stripes(&file, path, &how.striping);
        }
        Ok(file)
    }

    fn expect(&self, file: &File, style: AccessStyle) {
        let order = match style {
            style if style.is_sequential() => FileOrder::Sequential,
            style if style.is_random() => FileOrder::Random,
            _ => FileOrder::Normal,
        };
        file.expect_order(order);
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

/// The file is as the system makes it: stripes are set by a library of Lustre's, which is no part of this one.
#[cold]
fn refuse_stripes(file: &File, path: &CStr, striping: &Striping) {
    let path = path.to_string_lossy();
    let why = match file.is_on_lustre() {
        true => {
            "this library is built without Lustre's liblustreapi; use `lfs setstripe` on the folder or the file beforehand"
        }
        false => "its file system does not lay files over several devices at the program's wish",
    };
    verbose!(FRAMEWORK, 10, "ufs: {path}: {striping:?} is not done: {why}");
}
