//! The bytes of a copy.
#![allow(unsafe_code)]

use alloc::vec;
use alloc::vec::Vec;
use opal_core::framework::memcpy;

/// Changes a bit of bytes that were just written.
///
/// # Safety
/// `at` is writable as far as that bit.
pub unsafe fn flip(at: *mut u8, bit: usize) {
    let byte = at.wrapping_add(bit / 8);
    // SAFETY: the caller's promise.
    let value = unsafe { byte.read() };
    // SAFETY: as above.
    unsafe { byte.write(value ^ 1 << (bit % 8)) };
}

/// The bytes with a bit changed.
///
/// # Safety
/// `at` is readable for `bytes`, and the bit is one of theirs.
pub unsafe fn flipped(at: *const u8, bytes: usize, bit: usize) -> Vec<u8> {
    let mut copy = vec![0; bytes];
    // SAFETY: readable by the caller's promise, and the copy is as long.
    unsafe { memcpy::copy(copy.as_mut_ptr(), at, bytes) };
    copy[bit / 8] ^= 1 << (bit % 8);
    copy
}
