//! What the system answers when it refuses: an errno of Linux, kept as a number so that the layers above can say it.

use alloc::string::String;
#[cfg(not(ompi_bare))]
use core::ffi::CStr;
use core::fmt::{Display, Formatter};

/// An errno.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Errno(pub i32);

impl Errno {
    /// Operation not permitted.
    pub const PERM: Errno = Errno(1);
    /// No such file or directory.
    pub const NOENT: Errno = Errno(2);
    /// A signal came first.
    pub const INTR: Errno = Errno(4);
    /// Input or output error.
    pub const IO: Errno = Errno(5);
    /// No memory.
    pub const NOMEM: Errno = Errno(12);
    /// Permission denied.
    pub const ACCES: Errno = Errno(13);
    /// Memory that is not there.
    pub const FAULT: Errno = Errno(14);
    /// In use.
    pub const BUSY: Errno = Errno(16);
    /// It exists.
    pub const EXIST: Errno = Errno(17);
    /// A part of the path is no directory.
    pub const NOTDIR: Errno = Errno(20);
    /// It is a directory.
    pub const ISDIR: Errno = Errno(21);
    /// An argument is wrong.
    pub const INVAL: Errno = Errno(22);
    /// A program that is running.
    pub const TXTBSY: Errno = Errno(26);
    /// Longer than a file may be.
    pub const FBIG: Errno = Errno(27);
    /// No space on the device.
    pub const NOSPC: Errno = Errno(28);
    /// What has no places, such as a pipe.
    pub const SPIPE: Errno = Errno(29);
    /// The file system may only be read.
    pub const ROFS: Errno = Errno(30);
    /// The name is too long.
    pub const NAMETOOLONG: Errno = Errno(36);
    /// There is no such call.
    pub const NOSYS: Errno = Errno(38);
    /// Too many symbolic links.
    pub const LOOP: Errno = Errno(40);
    /// Not here.
    pub const OPNOTSUPP: Errno = Errno(95);
    /// The quota is used up.
    pub const DQUOT: Errno = Errno(122);
}

impl Display for Errno {
    fn fmt(&self, out: &mut Formatter<'_>) -> core::fmt::Result {
        let Errno(number) = self;
        match text_of(*number) {
            Some(text) => write!(out, "{text} (errno {number})"),
            None => write!(out, "errno {number}"),
        }
    }
}

/// The system's words for an errno.
#[cfg(not(ompi_bare))]
fn text_of(number: i32) -> Option<String> {
    let mut room = [0u8; 128];
    // SAFETY: as many bytes are writable.
    if unsafe { libc::strerror_r(number, room.as_mut_ptr().cast(), room.len()) } != 0 {
        return None;
    }
    let text = CStr::from_bytes_until_nul(&room).ok()?;
    Some(text.to_string_lossy().into_owned())
}

/// Nothing answers with numbers here.
#[cfg(ompi_bare)]
fn text_of(_number: i32) -> Option<String> {
    None
}
