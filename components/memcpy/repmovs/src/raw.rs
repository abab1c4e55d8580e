//! The copy.
#![allow(unsafe_code)]

/// Copies `bytes` bytes.
///
/// # Safety
/// That of `framework::memcpy::copy`.
#[inline]
pub unsafe fn copy(to: *mut u8, from: *const u8, bytes: usize) {
    // SAFETY: readable, writable and not overlapping by the caller's promise; the direction flag is clear by the ABI.
    unsafe {
        core::arch::asm!(
            "rep movsb",
            inout("rcx") bytes => _,
            inout("rdi") to => _,
            inout("rsi") from => _,
            options(nostack, preserves_flags)
        );
    }
}
