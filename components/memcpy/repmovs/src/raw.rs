//! The copy.
#![allow(unsafe_code)]

use opal_core::mem::{copy_aliased_4k, copy_string, is_aliased_4k};

/// Copies `bytes` bytes.
///
/// # Safety
/// That of `framework::memcpy::copy`.
#[inline]
pub unsafe fn copy(to: *mut u8, from: *const u8, bytes: usize) {
    if bytes >= WORTH && is_aliased_4k(to, from) {
        // SAFETY: the caller's promise.
        return unsafe { copy_aliased_4k(to, from, bytes) };
    }
    // SAFETY: likewise.
    unsafe { copy_string(to, from, bytes) }
}

/// Below the difference is smaller than what it costs to begin.
const WORTH: usize = 64;
