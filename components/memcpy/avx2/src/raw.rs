//! The copy.
//!
//! Assembly rather than intrinsics: the source may be written by another process meanwhile, which Rust's own reads do
//! not allow for, and the registers used must be known for `vzeroupper`.
#![allow(unsafe_code)]

use core::arch::asm;
use opal_core::mem::{copy_small, copy_string, is_aliased_4k};

/// From here on `rep movsb`: as fast in the caches and faster outside them (`cargo run --release -p bench-statics`).
const STRING: usize = 4 << 10;

/// Copies `bytes` bytes.
///
/// # Safety
/// That of `framework::memcpy::copy`, and the processor can: the component opens only then.
#[inline]
pub unsafe fn copy(to: *mut u8, from: *const u8, bytes: usize) {
    match bytes {
        // SAFETY: the caller's promise.
        0..64 => unsafe { copy_small(to, from, bytes) },
        // SAFETY: likewise, and AVX2 is there.
        64..=256 => unsafe { halves(to, from, bytes) },
        // SAFETY: likewise.
        257..STRING => unsafe { blocks(to, from, bytes) },
        // SAFETY: likewise.
        _ if is_aliased_4k(to, from) => unsafe { blocks(to, from, bytes) },
        // SAFETY: likewise.
        _ => unsafe { copy_string(to, from, bytes) },
    }
}

/// 64 to 256 bytes: the first and the last half, which overlap unless they are whole vectors.
///
/// # Safety
/// That of [`copy`], and 64 ≤ `bytes` ≤ 256.
#[target_feature(enable = "avx2")]
unsafe fn halves(to: *mut u8, from: *const u8, bytes: usize) {
    // SAFETY: up to 128 bytes, the first 64 and the last 64; above, the first 128 and the last 128. Each lies within
    // `bytes`. No load sees bytes that were copied already, because the buffers do not overlap.
    unsafe {
        asm!(
            "vmovdqu ymm0, [{from}]",
            "vmovdqu ymm1, [{from} + 32]",
            "vmovdqu ymm2, [{from} + {n} - 64]",
            "vmovdqu ymm3, [{from} + {n} - 32]",
            "cmp {n}, 128",
            "jbe 2f",
            "vmovdqu ymm4, [{from} + 64]",
            "vmovdqu ymm5, [{from} + 96]",
            "vmovdqu ymm6, [{from} + {n} - 128]",
            "vmovdqu ymm7, [{from} + {n} - 96]",
            "vmovdqu [{to} + 64], ymm4",
            "vmovdqu [{to} + 96], ymm5",
            "vmovdqu [{to} + {n} - 128], ymm6",
            "vmovdqu [{to} + {n} - 96], ymm7",
            "2:",
            "vmovdqu [{to}], ymm0",
            "vmovdqu [{to} + 32], ymm1",
            "vmovdqu [{to} + {n} - 64], ymm2",
            "vmovdqu [{to} + {n} - 32], ymm3",
            "vzeroupper",
            to = in(reg) to,
            from = in(reg) from,
            n = in(reg) bytes,
            out("ymm0") _, out("ymm1") _, out("ymm2") _, out("ymm3") _,
            out("ymm4") _, out("ymm5") _, out("ymm6") _, out("ymm7") _,
            out("ymm8") _, out("ymm9") _, out("ymm10") _, out("ymm11") _,
            out("ymm12") _, out("ymm13") _, out("ymm14") _, out("ymm15") _,
            options(nostack)
        );
    }
}

/// More than 256 bytes by blocks of 128.
///
/// # Safety
/// That of [`copy`], and `bytes` > 256.
#[target_feature(enable = "avx2")]
unsafe fn blocks(to: *mut u8, from: *const u8, bytes: usize) {
    // To the next 32-byte boundary of the destination: stores that split a line cost more than such loads.
    let step = 32 - to.addr() % 32;
    // SAFETY: the first 32 bytes; from the boundary on, blocks of 128 while more than 128 are left; the last 128. Each
    // lies within `bytes`. No load sees bytes that were copied already, because the buffers do not overlap.
    unsafe {
        asm!(
            "vmovdqu ymm0, [{from}]",
            "vmovdqu [{to}], ymm0",
            "add {from}, {step}",
            "add {to}, {step}",
            ".p2align 5",
            "2:",
            "vmovdqu ymm0, [{from}]",
            "vmovdqu ymm1, [{from} + 32]",
            "vmovdqu ymm2, [{from} + 64]",
            "vmovdqu ymm3, [{from} + 96]",
            "vmovdqa [{to}], ymm0",
            "vmovdqa [{to} + 32], ymm1",
            "vmovdqa [{to} + 64], ymm2",
            "vmovdqa [{to} + 96], ymm3",
            "sub {from}, -128",
            "sub {to}, -128",
            "cmp {to}, {last_to}",
            "jb 2b",
            "vmovdqu ymm0, [{last_from}]",
            "vmovdqu ymm1, [{last_from} + 32]",
            "vmovdqu ymm2, [{last_from} + 64]",
            "vmovdqu ymm3, [{last_from} + 96]",
            "vmovdqu [{last_to}], ymm0",
            "vmovdqu [{last_to} + 32], ymm1",
            "vmovdqu [{last_to} + 64], ymm2",
            "vmovdqu [{last_to} + 96], ymm3",
            "vzeroupper",
            to = inout(reg) to => _,
            from = inout(reg) from => _,
            step = in(reg) step,
            last_from = in(reg) from.wrapping_add(bytes - 128),
            last_to = in(reg) to.wrapping_add(bytes - 128),
            out("ymm0") _, out("ymm1") _, out("ymm2") _, out("ymm3") _,
            out("ymm4") _, out("ymm5") _, out("ymm6") _, out("ymm7") _,
            out("ymm8") _, out("ymm9") _, out("ymm10") _, out("ymm11") _,
            out("ymm12") _, out("ymm13") _, out("ymm14") _, out("ymm15") _,
            options(nostack)
        );
    }
}
