//! The file of a board. It has no name; who knows the descriptor of the process that made it can open it, if it is a process of the
//! same user (ptrace(2), "PTRACE_MODE_READ").

use crate::raw::{self, Mapping};
use crate::wire::{self, Place};
use alloc::format;
use alloc::string::String;
use opal_core::sys;
use rustix::fd::{AsFd, AsRawFd, OwnedFd};
use rustix::fs::{FallocateFlags, MemfdFlags, Mode, OFlags, SealFlags, Stat};

/// The file, open.
#[derive(Debug)]
pub struct BoardFile {
    file: OwnedFd,
    /// Where others find it, as long as it is open here.
    pub place: Place,
}

impl BoardFile {
    /// A new one of zeros, which nobody can make shorter or longer. `Err` with half a sentence.
    pub fn create() -> Result<BoardFile, String> {
        let refused = |errno| format!("the system refuses the memory file ({errno})");
        // Beyond the limit the system would end this process.
        let limit = rustix::process::getrlimit(rustix::process::Resource::Fsize).current;
        if limit.is_some_and(|limit| limit < wire::BOARD_BYTES as u64) {
            return Err(format!(
                "the limit on the size of files is too low; raise it to {} KiB (ulimit -f), little of which will be used",
                wire::BOARD_BYTES / 1024
            ));
        }
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = rustix::fs::memfd_create(c"ompi-rs board", flags | MemfdFlags::NOEXEC_SEAL)
            .or_else(|_| rustix::fs::memfd_create(c"ompi-rs board", flags))
            .map_err(refused)?;
        rustix::fs::ftruncate(&file, wire::BOARD_BYTES as u64).map_err(refused)?;
        rustix::fs::fcntl_add_seals(&file, SEALS).map_err(refused)?;
        // Programs use small numbers for themselves.
        let file = rustix::io::fcntl_dupfd_cloexec(&file, FIRST_NUMBER).unwrap_or(file);
        let stat = rustix::fs::fstat(&file).map_err(refused)?;
        let place =
            Place { pid: sys::pid(), descriptor: file.as_raw_fd() as u32, device: stat.st_dev, inode: stat.st_ino };
        Ok(BoardFile { file, place })
    }

    /// Opens that of another process. `Err` with half a sentence.
    pub fn open(place: &Place) -> Result<BoardFile, String> {
        let link = link(place);
        let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
        let file = rustix::fs::open(link.as_str(), flags, Mode::empty()).map_err(|errno| {
            format!(
                "{link} cannot be opened ({errno}); both processes must be of one user, see each other's /proc and be allowed to \
                 trace each other"
            )
        })?;
        let stat = rustix::fs::fstat(&file).map_err(|errno| format!("{link} cannot be looked at ({errno})"))?;
        let sealed = rustix::fs::fcntl_get_seals(&file).is_ok_and(|seals| seals.contains(SEALS));
        match is_it(&stat, place) && sealed && stat.st_size as u64 == wire::BOARD_BYTES as u64 {
            true => Ok(BoardFile { file, place: *place }),
            false => Err(format!(
                "{link} is another file by now: the process has ended, or closed a descriptor that is not its own"
            )),
        }
    }

    /// Maps a part of it.
    pub fn map(&self, offset: usize, bytes: usize, again: Option<Mapping>) -> Result<Mapping, String> {
        raw::map(self.file.as_fd(), offset, bytes, again)
            .map_err(|errno| format!("the system refuses to map it ({errno})"))
    }

    /// Makes a cell zeros again, and gives its memory back.
    pub fn clear_cell(&self, cell: usize) -> bool {
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        rustix::fs::fallocate(&self.file, flags, wire::cell(cell) as u64, wire::CELL_BYTES as u64).is_ok()
    }
}

/// Whether the process that has a board still shows it.
pub fn is_at(place: &Place) -> bool {
    rustix::fs::stat(link(place).as_str()).is_ok_and(|stat| is_it(&stat, place))
}

fn link(place: &Place) -> String {
    format!("/proc/{}/fd/{}", place.pid, place.descriptor)
}

fn is_it(stat: &Stat, place: &Place) -> bool {
    (stat.st_dev, stat.st_ino) == (place.device, place.inode)
}

/// Nobody can cut the memory off from those who have it mapped.
const SEALS: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW);
const FIRST_NUMBER: i32 = 200;
