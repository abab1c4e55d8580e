//! The copy.
#![allow(unsafe_code)]

/// 2. Copies `bytes` bytes. What stands here is right and no faster than memcpy/portable: something to compare with.
///
/// # Safety
/// That of `framework::memcpy::copy`.
#[inline]
pub unsafe fn copy(to: *mut u8, from: *const u8, bytes: usize) {
    // SAFETY: readable, writable and not overlapping by the caller's promise.
    unsafe { core::ptr::copy_nonoverlapping(from, to, bytes) }
}
