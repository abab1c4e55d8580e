//! A file in memory that processes of a node share. It has no name; who knows the descriptor of the process that made it can open it,
//! if it is a process of the same user (ptrace(2), "PTRACE_MODE_READ").

use crate::sync::AtomicU64;
use crate::{Error, Result, sys};
use alloc::alloc::{Layout, alloc_zeroed, dealloc};
use alloc::boxed::Box;
use alloc::format;
use core::fmt::Debug;
use rustix::fd::{AsFd, AsRawFd, IntoRawFd, OwnedFd};
use rustix::fs::{MemfdFlags, Mode, OFlags, SealFlags, SeekFrom};
use rustix::mm::{MapFlags, ProtFlags};

/// The file, open.
#[derive(Debug)]
pub struct PlacedFile {
    // Here until it is dropped.
    file: Option<OwnedFd>,
    place: Place,
}

/// Its memory, or a part of it, as this process has it mapped; or memory of this process alone, or of what else holds some.
#[derive(Debug)]
pub struct Mapping {
    base: *mut u8,
    bytes: usize,
    from: Origin,
}

/// Where a mapping's memory comes from.
#[derive(Debug)]
enum Origin {
    System,
    Heap(Layout),
    Holder(#[expect(dead_code, reason = "held, not looked at")] Box<dyn Debug + Send + Sync>),
}

// SAFETY: an address range; what is done with its bytes is up to the program's synchronisation, or atomic.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

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
        let file = rustix::fs::memfd_create(c"ompi-rs shared", flags | MemfdFlags::NOEXEC_SEAL)
            .or_else(|_| rustix::fs::memfd_create(c"ompi-rs shared", flags))
            .map_err(|_| Error::OutOfResource)?;
        rustix::fs::ftruncate(&file, bytes as u64).map_err(|_| Error::OutOfResource)?;
        rustix::fs::fcntl_add_seals(&file, SEALS).map_err(|_| Error::System)?;
        let stat = rustix::fs::fstat(&file).map_err(|_| Error::System)?;
        let descriptor = u32::try_from(file.as_raw_fd()).map_err(|_| Error::System)?;
        let place = Place { pid: sys::pid(), descriptor, device: stat.st_dev, inode: stat.st_ino };
        Ok(PlacedFile { file: Some(file), place })
    }

    /// Opens that of another process. `Err(Malformed)` if another file is there.
    pub fn open(place: &Place) -> Result<PlacedFile> {
        let link = format!("/proc/{}/fd/{}", place.pid, place.descriptor);
        let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
        let file = rustix::fs::open(link.as_str(), flags, Mode::empty()).map_err(|_| Error::Permission)?;
        let stat = rustix::fs::fstat(&file).map_err(|_| Error::System)?;
        let sealed = rustix::fs::fcntl_get_seals(&file).is_ok_and(|seals| seals.contains(SEALS));
        match (stat.st_dev, stat.st_ino) == (place.device, place.inode) && sealed {
            true => Ok(PlacedFile { file: Some(file), place: *place }),
            false => Err(Error::Malformed),
        }
    }

    /// Where others find it, as long as it is open here.
    pub fn place(&self) -> Place {
        self.place
    }

    /// Maps all of it. `Err(Malformed)` if it has another length.
    pub fn map(&self, bytes: usize) -> Result<Mapping> {
        match self.length()? == bytes as u64 {
            true => self.map_from(0, bytes),
            false => Err(Error::Malformed),
        }
    }

    /// Maps the pages in which `bytes` bytes at an offset lie: the mapping, and where they begin in it. `Err(Malformed)` if the file is
    /// shorter.
    pub fn map_part(&self, offset: u64, bytes: usize) -> Result<(Mapping, usize)> {
        let skipped = offset % PAGE as u64;
        if offset.checked_add(bytes as u64).is_none_or(|end| end > self.length().unwrap_or(0)) {
            return Err(Error::Malformed);
        }
        Ok((self.map_from(offset - skipped, skipped as usize + bytes)?, skipped as usize))
    }

    /// Maps `bytes` bytes from an offset on at an address. `Err(Malformed)` if the file is shorter.
    ///
    /// # Safety
    /// The addresses are the caller's, and what was there is no longer used.
    pub(super) unsafe fn map_over(&self, at: *mut u8, offset: u64, bytes: usize) -> Result<()> {
        if offset.checked_add(bytes as u64).is_none_or(|end| end > self.length().unwrap_or(0)) {
            return Err(Error::Malformed);
        }
        let file = self.file.as_ref().ok_or(Error::System)?;
        let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED | MapFlags::FIXED);
        // SAFETY: the caller's promise; of a file that nobody can cut off.
        let mapped = unsafe { rustix::mm::mmap(at.cast(), bytes, protection, flags, file.as_fd(), offset) };
        mapped.map(drop).map_err(|_| Error::OutOfResource)
    }

    /// Whether its descriptor is still that file: the program may have closed it.
    pub fn is_open(&self) -> bool {
        let is_ours = |stat: rustix::fs::Stat| (stat.st_dev, stat.st_ino) == (self.place.device, self.place.inode);
        self.file.as_ref().is_some_and(|file| rustix::fs::fstat(file).is_ok_and(is_ours))
    }

    /// Reads the file from its beginning. `Err(Malformed)` if it is shorter.
    pub fn read_beginning(&self, to: &mut [u8]) -> Result<()> {
        let file = self.file.as_ref().ok_or(Error::System)?;
        let wanted = to.len();
        let read = rustix::io::pread(file, to, 0).map_err(|_| Error::System)?;
        if read == wanted { Ok(()) } else { Err(Error::Malformed) }
    }

    /// The next bytes from an offset on that somebody has written: where they begin and end. `Ok(None)` if there are none.
    pub(super) fn data_from(&self, offset: u64) -> Result<Option<(u64, u64)>> {
        let file = self.file.as_ref().ok_or(Error::System)?;
        let begin = match rustix::fs::seek(file, SeekFrom::Data(offset)) {
            Ok(begin) => begin,
            Err(rustix::io::Errno::NXIO) => return Ok(None),
            Err(_) => return Err(Error::System),
        };
        // The end of the file counts as a hole.
        let end = rustix::fs::seek(file, SeekFrom::Hole(begin)).map_err(|_| Error::System)?;
        Ok(Some((begin, end)))
    }

    /// Writes bytes of this process's memory at an offset. `Err(OutOfResource)` if there is no memory for them.
    ///
    /// # Safety
    /// They are mapped.
    pub(super) unsafe fn write(&self, mut offset: u64, mut from: *const u8, mut bytes: usize) -> Result<()> {
        let file = self.file.as_ref().ok_or(Error::System)?;
        while bytes > 0 {
            let place = i64::try_from(offset).map_err(|_| Error::OutOfResource)?;
            // SAFETY: the caller's promise; the system reads what other threads write meanwhile as it is.
            let written = unsafe { libc::pwrite(file.as_raw_fd(), from.cast(), bytes, place) };
            let Some(written) = usize::try_from(written).ok().filter(|written| *written > 0) else {
                return Err(Error::OutOfResource);
            };
            (offset, from, bytes) = (offset + written as u64, from.wrapping_add(written), bytes - written);
        }
        Ok(())
    }

    /// It was made by the parent of this process, which is a child of fork, and is this process's now.
    pub fn take_over(&mut self) {
        self.place.pid = sys::pid();
    }

    fn map_from(&self, offset: u64, bytes: usize) -> Result<Mapping> {
        let file = self.file.as_ref().ok_or(Error::System)?;
        let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
        // SAFETY: a new mapping at an address of the kernel's choice, of a file that nobody can cut off.
        let base = unsafe { rustix::mm::mmap(core::ptr::null_mut(), bytes, protection, flags, file.as_fd(), offset) };
        Ok(Mapping { base: base.map_err(|_| Error::OutOfResource)?.cast(), bytes, from: Origin::System })
    }

    /// Its length in bytes.
    pub fn length(&self) -> Result<u64> {
        let file = self.file.as_ref().ok_or(Error::System)?;
        rustix::fs::fstat(file).map(|stat| stat.st_size as u64).map_err(|_| Error::System)
    }
}

impl Drop for PlacedFile {
    fn drop(&mut self) {
        let is_open = self.is_open();
        if let Some(file) = self.file.take()
            && !is_open
        {
            // The program closed it, and what has its number now is the program's.
            let _number = file.into_raw_fd();
        }
    }
}

impl Mapping {
    /// Memory of zeros on a page, which no other process has.
    pub fn of_this_process(bytes: usize) -> Result<Mapping> {
        if bytes > MOST_OF_HEAP {
            let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
            // SAFETY: a new mapping at an address of the kernel's choice.
            let base = unsafe { rustix::mm::mmap_anonymous(core::ptr::null_mut(), bytes, protection, flags) };
            return Ok(Mapping { base: base.map_err(|_| Error::OutOfResource)?.cast(), bytes, from: Origin::System });
        }
        let layout = Layout::from_size_align(bytes.max(1), PAGE).map_err(|_| Error::OutOfResource)?;
        // SAFETY: the layout is at least a byte long.
        let base = unsafe { alloc_zeroed(layout) };
        if base.is_null() { Err(Error::OutOfResource) } else { Ok(Mapping { base, bytes, from: Origin::Heap(layout) }) }
    }

    /// Of `bytes` bytes at an address, which `holder` holds.
    ///
    /// # Safety
    /// They are mapped as long as it lives, readable and writable, and begin on a page.
    pub(crate) unsafe fn held(base: *mut u8, bytes: usize, holder: Box<dyn Debug + Send + Sync>) -> Mapping {
        Mapping { base, bytes, from: Origin::Holder(holder) }
    }

    /// The word at an offset.
    ///
    /// # Panics
    /// If there is no aligned word: offsets come from a layout, never from a peer.
    pub fn word(&self, offset: usize) -> &AtomicU64 {
        assert!(offset.is_multiple_of(8) && offset + 8 <= self.bytes);
        // SAFETY: aligned and within the mapping, by the check above and because mappings begin on pages; it lives as long as
        // `self`.
        unsafe { &*self.base.wrapping_add(offset).cast::<AtomicU64>() }
    }

    /// The address of `bytes` bytes at an offset.
    ///
    /// # Panics
    /// If they are not all in it.
    pub fn place(&self, offset: usize, bytes: usize) -> *mut u8 {
        assert!(offset <= self.bytes && bytes <= self.bytes - offset);
        self.base.wrapping_add(offset)
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        match &self.from {
            Origin::System => {
                // SAFETY: the system gave it, and nobody has an address in it any more: its user has ended.
                let unmapped = unsafe { rustix::mm::munmap(self.base.cast(), self.bytes) };
                debug_assert!(unmapped.is_ok());
            }
            // SAFETY: allocated with this layout, and nobody has an address in it any more: its user has ended.
            Origin::Heap(layout) => unsafe { dealloc(self.base, *layout) },
            Origin::Holder(_) => {}
        }
    }
}

/// Mappings begin on a multiple of this.
const PAGE: usize = 4096;
/// More comes from the system, which has zeros at hand only when they are read.
const MOST_OF_HEAP: usize = 64 << 10;
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
        one.word(4096).store(7, crate::sync::Ordering::Relaxed);
        assert_eq!(two.word(4096).load(crate::sync::Ordering::Relaxed), 7);
        assert_eq!(file.map(4096).err(), Some(Error::Malformed));
        assert_eq!(PlacedFile::open(&Place { inode: place.inode + 1, ..place }).err(), Some(Error::Malformed));
        assert!(rustix::fs::ftruncate(file.file.as_ref().unwrap(), 0).is_err());
        let (part, skipped) = again.map_part(4100, 8).unwrap();
        assert_eq!((skipped, part.word(0).load(crate::sync::Ordering::Relaxed)), (4, 7));
        assert_eq!(again.map_part(8190, 4).err(), Some(Error::Malformed));
        assert_eq!(again.map_part(u64::MAX, 4).err(), Some(Error::Malformed));
        let gone = Place { descriptor: 999_999, ..place };
        assert_eq!(PlacedFile::open(&gone).err(), Some(Error::Permission));
        let own = Mapping::of_this_process(5000).unwrap();
        assert_eq!((own.word(4992).load(crate::sync::Ordering::Relaxed), own.place(0, 5000).addr() % PAGE), (0, 0));
        let long = Mapping::of_this_process(MOST_OF_HEAP + 1).unwrap();
        assert_eq!(long.word(MOST_OF_HEAP - 8).load(crate::sync::Ordering::Relaxed), 0);
        assert!(Mapping::of_this_process(usize::MAX).is_err());
        drop(file);
        // The mappings live on.
        assert_eq!(two.word(4096).load(crate::sync::Ordering::Relaxed), 7);
    }
}
