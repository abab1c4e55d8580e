//! What every way to copy has in common: fewer than 64 bytes, and the processor's string move.
//!
//! The source may be written by another process meanwhile.

/// Fewer than 64 bytes: two moves that may overlap, or four.
///
/// # Safety
/// That of `framework::memcpy::copy`, and `bytes` < 64.
#[inline(always)]
pub unsafe fn copy_small(to: *mut u8, from: *const u8, bytes: usize) {
    match bytes {
        // SAFETY: at least twice this wide.
        32..64 => unsafe { quarters(to, from, bytes) },
        // SAFETY: at least once, at most twice this wide.
        16..32 => unsafe { ends::<[u8; 16]>(to, from, bytes) },
        // SAFETY: likewise.
        8..16 => unsafe { ends::<[u8; 8]>(to, from, bytes) },
        // SAFETY: likewise.
        4..8 => unsafe { ends::<[u8; 4]>(to, from, bytes) },
        // SAFETY: likewise.
        2..4 => unsafe { ends::<[u8; 2]>(to, from, bytes) },
        // SAFETY: one byte.
        1 => unsafe { core::ptr::copy_nonoverlapping(from, to, 1) },
        _ => {}
    }
}

/// The first and the last `W`, which overlap unless there are exactly two.
///
/// # Safety
/// That of `framework::memcpy::copy`, and `size_of::<W>()` ≤ `bytes` ≤ 2 · `size_of::<W>()`.
#[inline(always)]
unsafe fn ends<W: Copy>(to: *mut u8, from: *const u8, bytes: usize) {
    let last = bytes - size_of::<W>();
    // SAFETY: the first `W` lies within `bytes` by the caller's promise.
    let first = unsafe { from.cast::<W>().read_unaligned() };
    // SAFETY: so does the last.
    let end = unsafe { from.wrapping_add(last).cast::<W>().read_unaligned() };
    // SAFETY: as the first above.
    unsafe { to.cast::<W>().write_unaligned(first) };
    // SAFETY: as the last above.
    unsafe { to.wrapping_add(last).cast::<W>().write_unaligned(end) };
}

/// The first 32 and the last 32 bytes.
///
/// # Safety
/// That of `framework::memcpy::copy`, and 32 ≤ `bytes` ≤ 64.
#[inline(always)]
unsafe fn quarters(to: *mut u8, from: *const u8, bytes: usize) {
    let last = bytes - 32;
    // SAFETY: the first 32 bytes lie within `bytes`.
    unsafe { ends::<[u8; 16]>(to, from, 32) };
    // SAFETY: so do the last.
    unsafe { ends::<[u8; 16]>(to.wrapping_add(last), from.wrapping_add(last), 32) };
}

/// By `rep movsb`, the processor's own string move.
///
/// # Safety
/// That of `framework::memcpy::copy`.
#[inline]
pub unsafe fn copy_string(to: *mut u8, from: *const u8, bytes: usize) {
    // SAFETY: the caller's promise; the direction flag is clear by the ABI.
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
