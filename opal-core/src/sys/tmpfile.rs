//! The common part of shmem/posix and shmem/file: a segment in a file that never has a name.
//!
//! The file is made by O_TMPFILE, so there is no moment at which a killed process leaves something behind, and nobody
//! can find it by a name. Peers open it through the owner's `/proc/PID/fd/N`, which the system allows to processes of
//! the same user only (ptrace(2), "PTRACE_MODE_READ"); Yama does not forbid it. A descriptor sent over a socket would
//! do without /proc, but asks the owner to answer while its program computes. So the owner keeps the descriptor open
//! for the life of the process, and the address says which file it is: numbers can be used again.

use crate::framework::shmem::{Address, Module, Segment};
use crate::sync::Once;
use crate::{Error, Result, message, sys};
use alloc::format;
use alloc::string::String;
use rustix::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use rustix::fs::{FallocateFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags};

/// Receive segments in one folder.
#[derive(Debug)]
pub struct TmpFile {
    /// Marks the addresses of one component.
    tag: [u8; 4],
    folder: String,
    /// The device of the folder: peers' files must lie there, too.
    device: u64,
    /// Whether room on the device is set aside at once; else pages come when they are touched.
    reserve: bool,
    own: Once<Own>,
}

#[derive(Debug)]
struct Own {
    file: OwnedFd,
    inode: u64,
    bytes: usize,
}

impl TmpFile {
    /// Tries whether the folder takes files without a name; else half a sentence.
    pub fn new(tag: [u8; 4], folder: &str, reserve: bool) -> core::result::Result<TmpFile, &'static str> {
        let file = make(folder).map_err(|errno| match errno {
            Errno::NOENT | Errno::NOTDIR => "its folder does not exist",
            Errno::ACCESS | Errno::PERM | Errno::ROFS => "writing to its folder is not permitted",
            Errno::OPNOTSUPP | Errno::ISDIR => "the file system of its folder has no files without a name (O_TMPFILE)",
            _ => "no file can be made in its folder",
        })?;
        let stat = rustix::fs::fstat(&file).map_err(|_| "no file can be made in its folder")?;
        Ok(TmpFile { tag, folder: String::from(folder), device: stat.st_dev, reserve, own: Once::new() })
    }

    fn make_room(&self, file: BorrowedFd<'_>, bytes: usize) -> Result<()> {
        let gone = |why: &str| {
            message!("cannot reserve {bytes} bytes of shared memory in {}: {why}", self.folder);
            Error::OutOfResource
        };
        // Touching a page that the device has no room for would kill the program with SIGBUS.
        let space = rustix::fs::fstatvfs(file).map_err(|errno| gone(&format!("{errno}")))?;
        if space.f_blocks != 0 && space.f_bavail.saturating_mul(space.f_frsize) < bytes as u64 {
            return Err(gone("the file system is full; make it larger, or choose another with --mca shmem"));
        }
        if self.reserve {
            match rustix::fs::fallocate(file, FallocateFlags::empty(), 0, bytes as u64) {
                Err(Errno::OPNOTSUPP | Errno::NOSYS) => {}
                result => return result.map_err(|errno| gone(&format!("{errno}"))),
            }
        }
        rustix::fs::ftruncate(file, bytes as u64).map_err(|errno| gone(&format!("{errno}")))
    }

    /// The peer's file, if it still is what the address says.
    fn peers(&self, peer: &Peer) -> Result<OwnedFd> {
        let link = format!("/proc/{}/fd/{}", peer.pid, peer.descriptor);
        let failed = |why: &dyn core::fmt::Display| {
            message!(
                "the shared memory of process {} cannot be opened: {why}; all ranks of a node must run as one user and \
                 see each other in /proc, and must not close descriptors that they did not open; \
                 `--mca shmem memfd` needs neither",
                peer.pid
            );
            Error::System
        };
        // O_PATH opens nothing yet: whatever the number means by now is looked at before it is touched.
        let path = OFlags::PATH | OFlags::CLOEXEC;
        let found = rustix::fs::open(link.as_str(), path, Mode::empty()).map_err(|errno| failed(&errno))?;
        let stat = rustix::fs::fstat(&found).map_err(|errno| failed(&errno))?;
        if !self.is(&stat, peer) {
            return Err(failed(&"the descriptor is another file by now"));
        }
        let again = format!("/proc/self/fd/{}", found.as_raw_fd());
        let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
        rustix::fs::open(again.as_str(), flags, Mode::empty()).map_err(|errno| failed(&errno))
    }

    fn is(&self, stat: &Stat, peer: &Peer) -> bool {
        FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
            && stat.st_nlink == 0
            && (stat.st_dev, stat.st_ino) == (self.device, peer.inode)
            && stat.st_uid == rustix::process::geteuid().as_raw()
            && u64::try_from(stat.st_size).is_ok_and(|size| size >= peer.bytes as u64)
    }
}

impl Module for TmpFile {
    fn create(&self, bytes: usize) -> Result<Segment> {
        if self.own.is_completed() {
            return Err(Error::Exists);
        }
        let bytes = bytes.max(1).checked_next_multiple_of(sys::page_size()).ok_or(Error::OutOfResource)?;
        if u32::try_from(bytes / sys::page_size()).is_err() {
            return Err(Error::OutOfResource);
        }
        let file = make(&self.folder).map_err(|errno| {
            message!("cannot create a file for shared memory in {}: {errno}", self.folder);
            Error::System
        })?;
        self.make_room(file.as_fd(), bytes)?;
        let inode = rustix::fs::fstat(&file).map_err(|_| Error::System)?.st_ino;
        let segment = map(file.as_fd(), bytes)?;
        self.own.call_once(|| Own { file, inode, bytes });
        Ok(segment)
    }

    fn address(&self) -> Address {
        let own = self.own.get().expect("address is asked for after create");
        let descriptor = own.file.as_raw_fd() as u32;
        Peer { pid: sys::pid(), descriptor, bytes: own.bytes, inode: own.inode }.encode(self.tag)
    }

    fn attach(&self, address: &Address) -> Result<Segment> {
        let peer = Peer::decode(address, self.tag).ok_or(Error::Malformed)?;
        map(self.peers(&peer)?.as_fd(), peer.bytes)
    }

    fn detach(&self, segment: Segment) {
        // SAFETY: `segment` came from `map`, and by the contract of `detach` nobody here touches it any more.
        let result = unsafe { rustix::mm::munmap(segment.base.cast(), segment.bytes) };
        debug_assert!(result.is_ok(), "a segment was unmapped twice");
    }
}

/// What an address says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Peer {
    pid: u32,
    descriptor: u32,
    bytes: usize,
    inode: u64,
}

impl Peer {
    fn encode(&self, tag: [u8; 4]) -> Address {
        let mut address = [0; 24];
        address[..4].copy_from_slice(&tag);
        address[4..8].copy_from_slice(&self.pid.to_le_bytes());
        address[8..12].copy_from_slice(&self.descriptor.to_le_bytes());
        address[12..16].copy_from_slice(&((self.bytes / sys::page_size()) as u32).to_le_bytes());
        address[16..].copy_from_slice(&self.inode.to_le_bytes());
        address
    }

    /// `None` for what `encode` cannot have written with this tag.
    fn decode(address: &Address, tag: [u8; 4]) -> Option<Peer> {
        let (found, rest) = address.split_first_chunk::<4>()?;
        let (pid, rest) = rest.split_first_chunk()?;
        let (descriptor, rest) = rest.split_first_chunk()?;
        let (pages, rest) = rest.split_first_chunk()?;
        let (inode, _) = rest.split_first_chunk()?;
        let (pid, descriptor) = (u32::from_le_bytes(*pid), u32::from_le_bytes(*descriptor));
        let bytes = (u32::from_le_bytes(*pages) as usize).checked_mul(sys::page_size())?;
        let sound = *found == tag && bytes != 0 && i32::try_from(pid).is_ok() && i32::try_from(descriptor).is_ok();
        sound.then_some(Peer { pid, descriptor, bytes, inode: u64::from_le_bytes(*inode) })
    }
}

/// Readable and writable by this user alone; with O_EXCL nobody can give it a name later.
fn make(folder: &str) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::TMPFILE | OFlags::EXCL | OFlags::RDWR | OFlags::CLOEXEC;
    rustix::fs::open(folder, flags, Mode::RUSR | Mode::WUSR)
}

fn map(file: BorrowedFd<'_>, bytes: usize) -> Result<Segment> {
    let protection = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a new mapping at an address of the kernel's choice.
    let base = unsafe { rustix::mm::mmap(core::ptr::null_mut(), bytes, protection, MapFlags::SHARED, file, 0) };
    let base = base.map_err(|errno| {
        message!("mapping {bytes} bytes of shared memory failed ({errno})");
        Error::OutOfResource
    })?;
    Ok(Segment { base: base.cast(), bytes })
}
