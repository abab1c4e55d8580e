//! Mapping and unmapping.
#![allow(unsafe_code)]

use opal_core::framework::shmem::Segment;
use rustix::fd::BorrowedFd;
use rustix::mm::{MapFlags, ProtFlags};

/// The launcher's descriptor, whatever it is now; nothing here ever closes it.
pub fn inherited(number: i32) -> Option<BorrowedFd<'static>> {
    // SAFETY: not -1. If it is not open the system calls it is passed to say so; `module` compares the file behind it.
    (number >= 0).then(|| unsafe { BorrowedFd::borrow_raw(number) })
}

/// Maps part of a file for reading and writing.
pub fn map(descriptor: BorrowedFd<'_>, offset: u64, bytes: usize) -> rustix::io::Result<Segment> {
    let protection = ProtFlags::READ | ProtFlags::WRITE;
    // Reserves nothing: pages come when they are touched, and most of a receive segment never is.
    let flags = MapFlags::SHARED | MapFlags::NORESERVE;
    // SAFETY: a new mapping at an address of the kernel's choice.
    let base = unsafe { rustix::mm::mmap(core::ptr::null_mut(), bytes, protection, flags, descriptor, offset) }?;
    Ok(Segment { base: base.cast(), bytes })
}

/// Undoes [`map`].
pub fn unmap(segment: Segment) {
    // SAFETY: `segment` came from `map`, and by the contract of `detach` nobody here touches it any more.
    let result = unsafe { rustix::mm::munmap(segment.base.cast(), segment.bytes) };
    debug_assert!(result.is_ok(), "a segment was unmapped twice");
}
