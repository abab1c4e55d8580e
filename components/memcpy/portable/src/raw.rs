//! The copy.
#![allow(unsafe_code)]

/// Copies `bytes` bytes.
///
/// # Safety
/// That of `framework::memcpy::copy`.
#[inline]
pub unsafe fn copy(to: *mut u8, from: *const u8, bytes: usize) {
    // SAFETY: readable, writable and not overlapping by the caller's promise.
    unsafe { core::ptr::copy_nonoverlapping(from, to, bytes) }
}
