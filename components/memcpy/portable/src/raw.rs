//! The copy.
#![allow(unsafe_code)]

use opal_core::mem::{copy_aliased_4k, is_aliased_4k};

/// Copies `bytes` bytes.
///
/// # Safety
/// That of `framework::memcpy::copy`.
#[inline]
pub unsafe fn copy(to: *mut u8, from: *const u8, bytes: usize) {
    if bytes > STRING && is_aliased_4k(to, from) {
        // SAFETY: the caller's promise.
        return unsafe { copy_aliased_4k(to, from, bytes) };
    }
    // SAFETY: readable, writable and not overlapping by the caller's promise.
    unsafe { core::ptr::copy_nonoverlapping(from, to, bytes) }
}

/// C libraries copy no less by string moves.
const STRING: usize = 2 << 10;
