//! The inherited descriptor.
#![allow(unsafe_code)]

use rustix::fd::BorrowedFd;

/// The descriptor with this number, whatever it is now; nothing here ever closes it.
pub fn inherited(number: i32) -> BorrowedFd<'static> {
    assert!(number >= 0, "traces admit no negative number");
    // SAFETY: not -1. If it is not open, or is something else, the system calls it is passed to say so.
    unsafe { BorrowedFd::borrow_raw(number) }
}
