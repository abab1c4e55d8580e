//! The inherited descriptor, its mapping and sleeping on words of it.
#![allow(unsafe_code)]

use core::ffi::c_void;
use opal_core::sync::AtomicU32;
use orte_core::segment::Shared;
use rustix::fd::BorrowedFd;
use rustix::io::Result;
use rustix::mm::{MapFlags, ProtFlags};
use rustix::thread::futex;
use rustix::time::Timespec;

/// A shared mapping that lasts as long as the process.
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
    // system calls it is passed to say so, and `segment::open` checks what it is.
    unsafe { BorrowedFd::borrow_raw(number) }
}

/// Maps the first `bytes` of a file that is at least that long and sealed against shrinking.
pub fn map(descriptor: BorrowedFd<'_>, bytes: usize) -> Result<Mapping> {
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
