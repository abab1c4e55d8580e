//! What the system says of a file, as MPI says it. MPI 5.0 §14.7.

use crate::error::{Class, Fault};
use alloc::format;
use core::ffi::CStr;
use opal_core::sys::Errno;

/// The fault for an errno, with the file and what was tried on it.
#[cold]
pub fn failure(errno: Errno, path: &CStr, what: &str) -> Fault {
    Fault::new(class_of(errno)).because(format!("{} {what}: {errno}", path.to_string_lossy()))
}

/// The one place where an errno becomes a class.
fn class_of(errno: Errno) -> Class {
    match errno {
        Errno::NOENT => Class::NoSuchFile,
        Errno::EXIST => Class::FileExists,
        Errno::PERM | Errno::ACCES => Class::Access,
        Errno::ROFS => Class::ReadOnly,
        Errno::NOTDIR | Errno::ISDIR | Errno::NAMETOOLONG | Errno::LOOP | Errno::SPIPE => Class::BadFile,
        Errno::BUSY | Errno::TXTBSY => Class::FileInUse,
        Errno::NOSPC => Class::NoSpace,
        Errno::DQUOT => Class::Quota,
        Errno::NOMEM => Class::NoMem,
        Errno::NOSYS | Errno::OPNOTSUPP => Class::UnsupportedOperation,
        _ => Class::Io,
    }
}
