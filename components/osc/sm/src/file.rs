//! The file in memory of a window. It has no name; who knows the descriptor of the process that made it can open it, if it is a
//! process of the same user (ptrace(2), "PTRACE_MODE_READ").

use crate::raw::{self, Mapping};
use alloc::format;
use opal_core::{Error, Result, sys};
use rustix::fd::{AsFd, AsRawFd, OwnedFd};
use rustix::fs::{MemfdFlags, Mode, OFlags, SealFlags};

/// The file, open.
#[derive(Debug)]
pub struct PlacedFile {
    file: OwnedFd,
    place: Place,
}

/// Where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pid: u32,
    descriptor: u32,
    device: u64,
    inode: u64,
}

impl Place {
    /// Words of a place.
    pub const WORDS: usize = 3;

    /// As words, of which the first is never 0.
    pub fn words(&self) -> [u64; Place::WORDS] {
        [u64::from(self.pid) | u64::from(self.descriptor) << 32, self.device, self.inode]
    }

    /// `None` if the first word is 0.
    pub fn of_words([process, device, inode]: [u64; Place::WORDS]) -> Option<Place> {
        let (pid, descriptor) = (process as u32, (process >> 32) as u32);
        (pid != 0).then_some(Place { pid, descriptor, device, inode })
    }
}

impl PlacedFile {
    /// A new one of zeros, which nobody can make shorter or longer.
    pub fn create(bytes: usize) -> Result<PlacedFile> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = rustix::fs::memfd_create(c"ompi-rs window", flags | MemfdFlags::NOEXEC_SEAL)
            .or_else(|_| rustix::fs::memfd_create(c"ompi-rs window", flags))
            .map_err(|_| Error::OutOfResource)?;
        rustix::fs::ftruncate(&file, bytes as u64).map_err(|_| Error::OutOfResource)?;
        rustix::fs::fcntl_add_seals(&file, SEALS).map_err(|_| Error::System)?;
        let stat = rustix::fs::fstat(&file).map_err(|_| Error::System)?;
        let descriptor = u32::try_from(file.as_raw_fd()).map_err(|_| Error::System)?;
        let place = Place { pid: sys::pid(), descriptor, device: stat.st_dev, inode: stat.st_ino };
        Ok(PlacedFile { file, place })
    }

    /// Opens that of another process. `Err(Malformed)` if another file is there.
    pub fn open(place: &Place) -> Result<PlacedFile> {
        let link = format!("/proc/{}/fd/{}", place.pid, place.descriptor);
        let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
        let file = rustix::fs::open(link.as_str(), flags, Mode::empty()).map_err(|_| Error::Permission)?;
        let stat = rustix::fs::fstat(&file).map_err(|_| Error::System)?;
        let sealed = rustix::fs::fcntl_get_seals(&file).is_ok_and(|seals| seals.contains(SEALS));
        match (stat.st_dev, stat.st_ino) == (place.device, place.inode) && sealed {
            true => Ok(PlacedFile { file, place: *place }),
            false => Err(Error::Malformed),
        }
    }

    /// Where others find it, as long as it is open here.
    pub fn place(&self) -> Place {
        self.place
    }

    /// Maps all of it. `Err(Malformed)` if it has another length.
    pub fn map(&self, bytes: usize) -> Result<Mapping> {
        let stat = rustix::fs::fstat(&self.file).map_err(|_| Error::System)?;
        if stat.st_size as u64 != bytes as u64 {
            return Err(Error::Malformed);
        }
        raw::map(self.file.as_fd(), bytes).map_err(|_| Error::OutOfResource)
    }
}

/// Nobody can cut the memory off from those who have it mapped.
const SEALS: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_find_it_and_nothing_else() {
        let file = PlacedFile::create(8192).unwrap();
        let place = file.place();
        assert_eq!(Place::of_words(place.words()), Some(place));
        assert_eq!(Place::of_words([0; 3]), None);
        let again = PlacedFile::open(&place).unwrap();
        let (one, two) = (file.map(8192).unwrap(), again.map(8192).unwrap());
        one.word(4096).store(7, opal_core::sync::Ordering::Relaxed);
        assert_eq!(two.word(4096).load(opal_core::sync::Ordering::Relaxed), 7);
        assert_eq!(file.map(4096).err(), Some(Error::Malformed));
        assert_eq!(PlacedFile::open(&Place { inode: place.inode + 1, ..place }).err(), Some(Error::Malformed));
        assert!(rustix::fs::ftruncate(&file.file, 0).is_err());
        let gone = Place { descriptor: 999_999, ..place };
        assert_eq!(PlacedFile::open(&gone).err(), Some(Error::Permission));
        drop(file);
        // The mappings live on.
        assert_eq!(two.word(4096).load(opal_core::sync::Ordering::Relaxed), 7);
    }
}
