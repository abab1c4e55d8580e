//! Files in places where others may have put something: a pipe that blocks the process that opens it, a device without
//! end, a link to a file that must not be overwritten, a file of somebody else's.
//!
//! **Invariant:** a file is opened without blocking and without changing it, then it is looked at, and only then used.

use core::fmt::{Display, Formatter};

/// Why a file is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distrust {
    /// There is none.
    Missing,
    /// The system's answer, an errno.
    System(i32),
    /// It is not a file with contents, but this.
    Kind(&'static str),
    /// It belongs to this user.
    Owner(u32),
    /// Everybody may write it.
    Writable,
    /// So many names lead to it.
    Links(u64),
    /// It is longer than this many bytes.
    Long(usize),
}

impl Display for Distrust {
    fn fmt(&self, out: &mut Formatter<'_>) -> core::fmt::Result {
        match self {
            Distrust::Missing => write!(out, "there is no such file"),
            #[cfg(not(ompi_bare))]
            Distrust::System(errno) => write!(out, "{}", rustix::io::Errno::from_raw_os_error(*errno)),
            #[cfg(ompi_bare)]
            Distrust::System(errno) => write!(out, "error {errno}"),
            Distrust::Kind(kind) => write!(out, "it is {kind}, not a regular file"),
            Distrust::Owner(user) => write!(out, "it belongs to another user ({user})"),
            Distrust::Writable => write!(out, "everybody may write to it; forbid that with chmod o-w"),
            Distrust::Links(names) => {
                write!(out, "it has {names} hard links, so that it can change under another name")
            }
            Distrust::Long(most) => write!(out, "it is longer than {most} bytes"),
        }
    }
}

/// There are no files.
#[cfg(ompi_bare)]
pub fn read_trusted(_path: &str, _most: usize) -> Result<alloc::vec::Vec<u8>, Distrust> {
    Err(Distrust::Missing)
}

#[cfg(not(ompi_bare))]
pub use hosted::*;

#[cfg(not(ompi_bare))]
mod hosted {
    use super::Distrust;
    use alloc::vec::Vec;
    use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
    use rustix::fs::{FileType, Mode, OFlags, Stat};
    use rustix::io::Errno;

    /// The content of a file that tells this program what to do: a regular one of at most `most` bytes that belongs to
    /// this user or to root, and that not everybody may write. Symbolic links are followed: what counts is where they lead.
    pub fn read_trusted(path: &str, most: usize) -> Result<Vec<u8>, Distrust> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = rustix::fs::open(path, flags, Mode::empty())?;
        let stat = rustix::fs::fstat(&file)?;
        regular(&stat)?;
        if stat.st_uid != 0 && stat.st_uid != user() {
            return Err(Distrust::Owner(stat.st_uid));
        }
        if stat.st_mode & 0o002 != 0 {
            return Err(Distrust::Writable);
        }
        let mut bytes = Vec::new();
        let mut chunk = [0u8; 4096];
        // It may grow while it is read.
        while bytes.len() <= most {
            match rustix::io::read(&file, &mut chunk) {
                Ok(0) => return Ok(bytes),
                Ok(read) => bytes.extend_from_slice(&chunk[..read]),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        Err(Distrust::Long(most))
    }

    /// Opens a file with `access`, or makes an empty one. Nothing in it is changed yet: look at it, then truncate.
    /// What is there must be a regular file with one name, of this user's or of the folder's owner; the last part of the
    /// path is no symbolic link. Null devices and terminals are taken as well where nothing is to be read.
    pub fn create_trusted(path: &[u8], mode: u32, access: OFlags) -> Result<OwnedFd, Distrust> {
        let (folder, name) = match path.iter().rposition(|byte| *byte == b'/') {
            Some(at) => (&path[..=at], &path[at + 1..]),
            None => (&b"."[..], path),
        };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        create_trusted_in(rustix::fs::open(folder, flags, Mode::empty())?.as_fd(), name, mode, access)
    }

    /// The same in a folder.
    pub fn create_trusted_in(
        folder: BorrowedFd<'_>,
        name: &[u8],
        mode: u32,
        access: OFlags,
    ) -> Result<OwnedFd, Distrust> {
        let open = |flags| {
            let guards = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
            rustix::fs::openat(folder, name, access | guards | flags, Mode::from_raw_mode(mode as _))
        };
        match open(OFlags::CREATE | OFlags::EXCL) {
            // Nobody else has had it.
            Ok(file) => return blocking(file),
            Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno.into()),
        }
        let file = match open(OFlags::empty()) {
            Ok(file) => file,
            // What open(2) says of a symbolic link, and of a pipe that nobody reads.
            Err(Errno::LOOP) => return Err(Distrust::Kind("a symbolic link")),
            Err(Errno::NXIO) => return Err(Distrust::Kind("a pipe")),
            Err(errno) => return Err(errno.into()),
        };
        let stat = rustix::fs::fstat(&file)?;
        if access == OFlags::WRONLY && FileType::from_raw_mode(stat.st_mode) == FileType::CharacterDevice {
            return blocking(file);
        }
        regular(&stat)?;
        own(&stat, folder)?;
        if stat.st_nlink > 1 {
            return Err(Distrust::Links(stat.st_nlink));
        }
        blocking(file)
    }

    /// Opens a folder in a folder, or makes it; it is no symbolic link, and belongs to this user or to the outer one's owner.
    pub fn folder_trusted_in(folder: BorrowedFd<'_>, name: &[u8]) -> Result<OwnedFd, Distrust> {
        match rustix::fs::mkdirat(folder, name, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno.into()),
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let inner = match rustix::fs::openat(folder, name, flags, Mode::empty()) {
            Ok(inner) => inner,
            Err(Errno::LOOP) => return Err(Distrust::Kind("a symbolic link")),
            Err(errno) => return Err(errno.into()),
        };
        own(&rustix::fs::fstat(&inner)?, folder)?;
        Ok(inner)
    }

    /// Somebody else's file in a folder that many write is a trap; the folder's owner could put anything there anyway.
    fn own(stat: &Stat, folder: BorrowedFd<'_>) -> Result<(), Distrust> {
        if stat.st_uid == user() || stat.st_uid == rustix::fs::fstat(folder)?.st_uid {
            return Ok(());
        }
        Err(Distrust::Owner(stat.st_uid))
    }

    fn regular(stat: &Stat) -> Result<(), Distrust> {
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Ok(()),
            FileType::Fifo => Err(Distrust::Kind("a pipe")),
            FileType::CharacterDevice | FileType::BlockDevice => Err(Distrust::Kind("a device")),
            FileType::Directory => Err(Distrust::Kind("a directory")),
            _ => Err(Distrust::Kind("something special")),
        }
    }

    fn blocking(file: OwnedFd) -> Result<OwnedFd, Distrust> {
        let flags = rustix::fs::fcntl_getfl(&file)?;
        rustix::fs::fcntl_setfl(&file, flags - OFlags::NONBLOCK)?;
        Ok(file)
    }

    fn user() -> u32 {
        rustix::process::geteuid().as_raw()
    }

    impl From<Errno> for Distrust {
        fn from(errno: Errno) -> Distrust {
            match errno {
                Errno::NOENT | Errno::NOTDIR => Distrust::Missing,
                _ => Distrust::System(errno.raw_os_error()),
            }
        }
    }
}
