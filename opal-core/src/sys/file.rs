//! Files of the program's: opened by path, read and written at places.
//!
//! Every call but reads and writes is made again after a signal. Those may move less than was asked for, or nothing; who calls goes on from
//! there.

use super::{Errno, FileOrder, OpenFlags};
use core::ffi::{CStr, c_int};
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::fs::{Advice, FallocateFlags, FileType, Mode, OFlags};

/// Memory of one part of a read or write.
pub type MemoryRun = libc::iovec;

/// A file that is open.
#[derive(Debug)]
pub struct File(OwnedFd);

impl File {
    /// Opens a file. `Err(ISDIR)` for a directory, `Err(SPIPE)` for what has no places.
    pub fn open(path: &CStr, how: &OpenFlags) -> Result<File, Errno> {
        let access = match (how.read, how.write) {
            (true, true) => OFlags::RDWR,
            (false, true) => OFlags::WRONLY,
            _ => OFlags::RDONLY,
        };
        let create = if how.create { OFlags::CREATE } else { OFlags::empty() };
        let exclusive = if how.create && how.exclusive { OFlags::EXCL } else { OFlags::empty() };
        // A pipe without a writer would block who opens it; reads and writes of files do not look at the flag.
        let flags = access | create | exclusive | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
        let file = again(|| rustix::fs::open(path, flags, Mode::from_raw_mode(how.mode as _)))?;
        let stat = rustix::fs::fstat(&file).map_err(errno)?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => Err(Errno::ISDIR),
            FileType::Fifo | FileType::Socket => Err(Errno::SPIPE),
            _ => Ok(File(file)),
        }
    }

    /// Its descriptor, for as long as this lives.
    pub fn descriptor(&self) -> i32 {
        self.0.as_raw_fd()
    }

    /// Takes its name away.
    pub fn delete(path: &CStr) -> Result<(), Errno> {
        rustix::fs::unlink(path).map_err(errno)
    }

    /// Whether all who have it open keep it when its name is taken away, on whichever host they run. File systems of the network
    /// need not promise that.
    pub fn lives_without_name(&self) -> bool {
        rustix::fs::fstatfs(&self.0).is_ok_and(|about| !OF_THE_NETWORK.contains(&(about.f_type as u32)))
    }

    /// Tells the system in which order its bytes will be asked for. It may not heed it.
    pub fn expect_order(&self, order: FileOrder) {
        let advice = match order {
            FileOrder::Normal => Advice::Normal,
            FileOrder::Sequential => Advice::Sequential,
            FileOrder::Random => Advice::Random,
        };
        // To the end of the file. Advice that the system refuses changes nothing.
        let _ = rustix::fs::fadvise(&self.0, 0, None, advice);
    }

    /// Its length in bytes.
    pub fn size(&self) -> Result<u64, Errno> {
        let stat = rustix::fs::fstat(&self.0).map_err(errno)?;
        Ok(u64::try_from(stat.st_size).unwrap_or(0))
    }

    /// Cuts or extends it.
    pub fn resize(&self, bytes: u64) -> Result<(), Errno> {
        again(|| rustix::fs::ftruncate(&self.0, bytes))
    }

    /// Reserves room for its first bytes; it is as long as that afterwards, or longer. `Err(OPNOTSUPP)` where the file system
    /// cannot.
    pub fn reserve(&self, bytes: u64) -> Result<(), Errno> {
        again(|| rustix::fs::fallocate(&self.0, FallocateFlags::empty(), 0, bytes))
    }

    /// Waits until what was written lies on the storage.
    pub fn sync(&self) -> Result<(), Errno> {
        match again(|| rustix::fs::fsync(&self.0)) {
            // fsync(2): of devices and the like that cannot be synchronised.
            Err(Errno::INVAL | Errno::ROFS) => Ok(()),
            other => other,
        }
    }

    /// Reads into several pieces of memory what lies at `offset`, in one call: how many bytes, 0 at the end of the file.
    /// `Err(INTR)`: a signal came first.
    ///
    /// # Safety
    /// Each run is writable, and there are at most [`MOST_RUNS`].
    pub unsafe fn read_at(&self, runs: &[MemoryRun], offset: u64) -> Result<usize, Errno> {
        let (descriptor, offset) = (self.0.as_raw_fd(), place(offset)?);
        moved(match runs {
            // The system needs less for one run.
            // SAFETY: the caller's promise; the descriptor is this file's.
            [run] => unsafe { libc::pread(descriptor, run.iov_base, run.iov_len, offset) },
            // SAFETY: likewise.
            _ => unsafe { libc::preadv(descriptor, runs.as_ptr(), runs.len() as c_int, offset) },
        })
    }

    /// Writes several pieces of memory to `offset`, in one call: how many bytes. `Err(INTR)`: a signal came
    /// first.
    ///
    /// # Safety
    /// Each run is readable, and there are at most [`MOST_RUNS`].
    pub unsafe fn write_at(&self, runs: &[MemoryRun], offset: u64) -> Result<usize, Errno> {
        let (descriptor, offset) = (self.0.as_raw_fd(), place(offset)?);
        moved(match runs {
            // SAFETY: the caller's promise; the descriptor is this file's.
            [run] => unsafe { libc::pwrite(descriptor, run.iov_base, run.iov_len, offset) },
            // SAFETY: likewise.
            _ => unsafe { libc::pwritev(descriptor, runs.as_ptr(), runs.len() as c_int, offset) },
        })
    }

    /// Locks the bytes from `from` on, `bytes` of them, against who locks them through another opening of the file, in this
    /// process or another: for reading with others, or for writing alone. Waits until nobody else holds them.
    pub fn lock(&self, from: u64, bytes: u64, alone: bool) -> Result<(), Errno> {
        self.change_lock(if alone { libc::F_WRLCK } else { libc::F_RDLCK }, from, bytes)
    }

    /// Ends a lock.
    pub fn unlock(&self, from: u64, bytes: u64) -> Result<(), Errno> {
        self.change_lock(libc::F_UNLCK, from, bytes)
    }

    fn change_lock(&self, kind: c_int, from: u64, bytes: u64) -> Result<(), Errno> {
        // SAFETY: a structure of plain numbers, for which zero is right.
        let mut lock: libc::flock = unsafe { core::mem::zeroed() };
        (lock.l_type, lock.l_whence) = (kind as _, libc::SEEK_SET as _);
        (lock.l_start, lock.l_len) = (place(from)?, place(bytes)?);
        loop {
            // SAFETY: the descriptor is this file's, the structure this function's own.
            match unsafe { libc::fcntl(self.0.as_raw_fd(), libc::F_OFD_SETLKW, &raw const lock) } {
                -1 => match last() {
                    Errno::INTR => {}
                    other => return Err(other),
                },
                _ => return Ok(()),
            }
        }
    }
}

/// Whether a file with this name lies on a Lustre file system, or would if it were made.
pub fn is_on_lustre(path: &CStr) -> bool {
    let kind = |path: &[u8]| rustix::fs::statfs(path).map(|about| about.f_type as u32);
    let folder = || match path.to_bytes().iter().rposition(|byte| *byte == b'/') {
        Some(slash) => kind(&path.to_bytes()[..=slash]),
        None => kind(b"."),
    };
    kind(path.to_bytes()).or_else(|_| folder()) == Ok(LUSTRE)
}

/// Of statfs(2): NFS, SMB, SMB2, CIFS, 9P, FUSE, AFS.
const OF_THE_NETWORK: [u32; 7] = [0x6969, 0x517b, 0xfe53_4d42, 0xff53_4d42, 0x0102_1997, 0x6573_5546, 0x5346_414f];
/// Of statfs(2).
const LUSTRE: u32 = 0x0bd0_0bd0;
/// Runs of memory that one call takes (IOV_MAX).
pub const MOST_RUNS: usize = 1024;

fn place(offset: u64) -> Result<i64, Errno> {
    i64::try_from(offset).map_err(|_| Errno::FBIG)
}

fn moved(result: isize) -> Result<usize, Errno> {
    usize::try_from(result).map_err(|_| last())
}

fn again<T>(mut call: impl FnMut() -> rustix::io::Result<T>) -> Result<T, Errno> {
    loop {
        match call() {
            Err(rustix::io::Errno::INTR) => {}
            other => return other.map_err(errno),
        }
    }
}

fn errno(errno: rustix::io::Errno) -> Errno {
    Errno(errno.raw_os_error())
}

/// What the C library says of the call before.
fn last() -> Errno {
    // SAFETY: this thread's own variable.
    let place = unsafe { libc::__errno_location() };
    // SAFETY: as above.
    Errno(unsafe { place.read() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::ffi::CString;

    fn run(bytes: &mut [u8]) -> MemoryRun {
        MemoryRun { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() }
    }

    #[test]
    fn bytes_are_written_where_they_belong_and_refusals_have_names() {
        let path = std::env::temp_dir().join(std::format!("opal-file-{}", std::process::id()));
        let path = CString::new(path.to_str().unwrap()).unwrap();
        let how = OpenFlags { read: true, write: true, create: true, exclusive: true, mode: 0o600 };
        let file = File::open(&path, &how).unwrap();
        assert_eq!(File::open(&path, &how).unwrap_err(), Errno::EXIST);
        let (mut one, mut two) = (*b"abc", *b"defg");
        // SAFETY: both are this function's own.
        assert_eq!(unsafe { file.write_at(&[run(&mut one), run(&mut two)], 5) }, Ok(7));
        assert_eq!(file.size(), Ok(12));
        let mut all = [b'?'; 20];
        // SAFETY: this function's own.
        assert_eq!(unsafe { file.read_at(&[run(&mut all)], 0) }, Ok(12));
        assert_eq!(&all[..12], b"\0\0\0\0\0abcdefg");
        // SAFETY: as above.
        assert_eq!(unsafe { file.read_at(&[run(&mut all)], 12) }, Ok(0));
        file.resize(3).unwrap();
        assert_eq!(file.size(), Ok(3));
        file.lock(0, 8, true).unwrap();
        file.unlock(0, 8).unwrap();
        File::delete(&path).unwrap();
        assert_eq!(File::delete(&path), Err(Errno::NOENT));
        let folder = CString::new(std::env::temp_dir().to_str().unwrap()).unwrap();
        assert_eq!(File::open(&folder, &OpenFlags { read: true, ..how_none() }).unwrap_err(), Errno::ISDIR);
        assert_eq!(std::format!("{}", Errno::NOENT), "No such file or directory (errno 2)");
    }

    fn how_none() -> OpenFlags {
        OpenFlags::default()
    }
}
