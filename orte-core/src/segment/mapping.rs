//! The memory file of a segment under an operating system: made, checked, mapped, and slept on.
#![allow(unsafe_code)]

use super::layout::HEADER_BYTES;
use super::{Control, Layout, RankState, Shared};
use alloc::format;
use alloc::string::String;
use core::ffi::c_void;
use opal_core::sync::AtomicU32;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{FileType, MemfdFlags, Mode, SealFlags};
use rustix::io::{Errno, Result};
use rustix::mm::{MapFlags, ProtFlags};
use rustix::thread::futex;
use rustix::time::Timespec;

/// A shared mapping that lasts as long as the process.
#[derive(Debug)]
pub struct Mapping {
    base: *mut u8,
    bytes: usize,
}

// SAFETY: an address range that is only touched as atomic words.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

/// The descriptor with this number, whatever it is now; nothing here ever closes it.
pub fn inherited(number: i32) -> BorrowedFd<'static> {
    // SAFETY: not -1, since the contract admits no negative number. If it is not open, or is something else, the
    // system calls it is passed to say so, and `open` checks what it is.
    unsafe { BorrowedFd::borrow_raw(number) }
}

/// Checks that a descriptor is a job segment, and maps its control part. `Err` with half a sentence.
pub fn open(descriptor: BorrowedFd<'_>) -> core::result::Result<Control<Mapping>, String> {
    let layout = checked(descriptor)?;
    let mapping = map(descriptor, layout.control_bytes()).map_err(refused)?;
    Control::new(layout, mapping).ok_or_else(|| String::from("it is too short"))
}

/// Makes a segment whose ranks all count as started. `Err` with half a sentence.
pub fn create(job: u64, ranks: u32, secret: &[u8; 32]) -> core::result::Result<(OwnedFd, Control<Mapping>), String> {
    let layout = Layout::new(job, ranks).ok_or_else(|| format!("{ranks} ranks do not fit"))?;
    let file = sealed_file(&layout).map_err(|errno| match errno {
        Errno::FBIG => format!(
            "the limit on the size of files is too low; raise it to {} KiB (ulimit -H -f), little of which will be used",
            layout.file_bytes().div_ceil(1024)
        ),
        _ => refused(errno),
    })?;
    let control = open(file.as_fd())?;
    control.set_secret(secret);
    for rank in 0..ranks {
        control.set_state(rank, RankState::Started).map_err(|error| format!("{error:?}"))?;
    }
    Ok((file, control))
}

/// The bytes of a file that nobody can change any more, mapped for the life of the process. `Err` with half a sentence.
pub fn sealed(file: BorrowedFd<'_>) -> core::result::Result<&'static [u8], String> {
    // Only memory files have seals.
    let seals = rustix::fs::fcntl_get_seals(file).map_err(|_| String::from("it is not a memory file"))?;
    if !seals.contains(SEALED) {
        return Err(String::from("it is not sealed"));
    }
    let bytes = rustix::fs::fstat(file).map_err(refused)?.st_size;
    let Some(bytes) = usize::try_from(bytes).ok().filter(|bytes| *bytes > 0) else {
        return Err(String::from("it is empty"));
    };
    // SAFETY: a new mapping at an address of the kernel's choice.
    let base = unsafe { rustix::mm::mmap(core::ptr::null_mut(), bytes, ProtFlags::READ, MapFlags::SHARED, file, 0) };
    let base = base.map_err(refused)?.cast::<u8>();
    // SAFETY: mapped just now, so many bytes, for ever; the seals, which cannot be taken off, keep anybody from writing to the
    // file or cutting it off.
    Ok(unsafe { core::slice::from_raw_parts(base, bytes) })
}

/// The seals of a file whose bytes stay what they are.
pub const SEALED: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW).union(SealFlags::WRITE);

fn checked(descriptor: BorrowedFd<'_>) -> core::result::Result<Layout, String> {
    let stat = rustix::fs::fstat(descriptor).map_err(refused)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(String::from("it is not a memory file"));
    }
    // Only memory files have seals; without this one a peer could cut the mapping off and kill this process.
    match rustix::fs::fcntl_get_seals(descriptor) {
        Ok(seals) if seals.contains(SealFlags::SHRINK) => {}
        Ok(_) => return Err(String::from("it is not sealed against shrinking")),
        Err(_) => return Err(String::from("it is not a memory file")),
    }
    let mut header = [0; HEADER_BYTES];
    let read = rustix::io::pread(descriptor, &mut header, 0).map_err(refused)?;
    let file_bytes = u64::try_from(stat.st_size).unwrap_or(0);
    Layout::new_checked(&header[..read], file_bytes).map_err(|flaw| format!("{flaw}"))
}

/// Sparse: a page exists once somebody touched it.
fn sealed_file(layout: &Layout) -> Result<OwnedFd> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let name = format!("{}job {:x}", opal_core::sys::FILE_PREFIX, layout.job);
    // Kernels before 6.3 do not know NOEXEC_SEAL.
    let file = rustix::fs::memfd_create(name.as_str(), flags | MemfdFlags::NOEXEC_SEAL)
        .or_else(|_| rustix::fs::memfd_create(name.as_str(), flags))?;
    rustix::fs::fchmod(&file, Mode::RUSR | Mode::WUSR)?;
    rustix::fs::ftruncate(&file, layout.file_bytes())?;
    let header = layout.encode();
    if rustix::io::pwrite(&file, &header, 0)? != header.len() {
        return Err(Errno::IO);
    }
    rustix::fs::fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
    Ok(file)
}

fn refused(errno: Errno) -> String {
    format!("the system refused ({errno})")
}

/// Maps the first `bytes` of a file that is at least that long and sealed against shrinking.
fn map(descriptor: BorrowedFd<'_>, bytes: usize) -> Result<Mapping> {
    let protection = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a new mapping at an address of the kernel's choice.
    let base = unsafe { rustix::mm::mmap(core::ptr::null_mut(), bytes, protection, MapFlags::SHARED, descriptor, 0) }?;
    Ok(Mapping { base: base.cast(), bytes })
}

impl Mapping {
    fn at(&self, offset: usize) -> *mut u32 {
        assert!(offset.is_multiple_of(4) && offset + 4 <= self.bytes, "a word outside the segment");
        self.base.wrapping_add(offset).cast()
    }

    /// The word as the system call wants it, whatever the library's own atomics are.
    fn futex(&self, offset: usize) -> &core::sync::atomic::AtomicU32 {
        // SAFETY: `at` checked that it lies in the mapping, aligned; all access to it is atomic.
        unsafe { core::sync::atomic::AtomicU32::from_ptr(self.at(offset)) }
    }
}

impl Shared for Mapping {
    fn bytes(&self) -> usize {
        self.bytes
    }

    fn word(&self, offset: usize) -> &AtomicU32 {
        // SAFETY: `at` checked that it lies in the mapping, aligned; all access to it is atomic, and the mapping is
        // never undone.
        unsafe { &*self.at(offset).cast::<c_void>().cast::<AtomicU32>() }
    }

    fn sleep(&self, offset: usize, seen: u32, timeout_us: u64) {
        let (tv_sec, tv_nsec) = ((timeout_us / 1_000_000) as i64, (timeout_us % 1_000_000 * 1000) as _);
        // Woken, changed, timed out or interrupted: the caller looks again in every case.
        let _ = futex::wait(self.futex(offset), futex::Flags::empty(), seen, Some(&Timespec { tv_sec, tv_nsec }));
    }

    fn wake(&self, offset: usize) {
        let _ = futex::wake(self.futex(offset), futex::Flags::empty(), i32::MAX as u32);
    }
}
