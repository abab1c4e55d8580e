//! Stands in for the image crate in this crate's own unit tests, and keeps account of its copies.
#![allow(unsafe_code)]

use core::cell::RefCell;
use core::ops::Range;
use std::vec::Vec;

opal_core::image![];
opal_core::provide_memcpy!(copy);

/// What was copied: from where, and to where.
pub type Copied = (Range<usize>, Range<usize>);

std::thread_local! {
    static COPIES: RefCell<Vec<Copied>> = const { RefCell::new(Vec::new()) };
}

/// What this thread copied through the framework since it asked last.
pub fn copies() -> Vec<Copied> {
    COPIES.take()
}

unsafe fn copy(to: *mut u8, from: *const u8, bytes: usize) {
    let range = |at: usize| at..at + bytes;
    COPIES.with_borrow_mut(|copies| copies.push((range(from.addr()), range(to.addr()))));
    // SAFETY: the contract of `framework::memcpy::copy`.
    unsafe { core::ptr::copy(from, to, bytes) }
}
opal_core::provide_timer!(ticks, frequency);

fn ticks() -> u64 {
    0
}

fn frequency() -> u64 {
    1_000_000_000
}
