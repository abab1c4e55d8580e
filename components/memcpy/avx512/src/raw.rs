//! The copy.
//!
//! Assembly rather than intrinsics: the source may be written by another process meanwhile, which Rust's own reads do
//! not allow for, and the compiler may not choose zmm0–15.
#![allow(unsafe_code)]

use core::arch::asm;
use opal_core::mem::{copy_small, copy_string, is_aliased_4k};

/// From here on `rep movsb`: as fast in the caches and faster outside them (`cargo run --release -p bench-statics`).
const STRING: usize = 8 << 10;

/// Copies `bytes` bytes.
///
/// # Safety
/// That of `framework::memcpy::copy`, and the processor can: the component opens only then.
#[inline]
pub unsafe fn copy(to: *mut u8, from: *const u8, bytes: usize) {
    match bytes {
        // SAFETY: the caller's promise.
        0..64 => unsafe { copy_small(to, from, bytes) },
        // SAFETY: likewise, and AVX-512F is there.
        64..STRING => unsafe { vectors(to, from, bytes) },
        // SAFETY: likewise.
        _ if is_aliased_4k(to, from) => unsafe { vectors(to, from, bytes) },
        // SAFETY: likewise.
        _ => unsafe { copy_string(to, from, bytes) },
    }
}

/// At least 64 bytes by vectors.
///
/// # Safety
/// That of [`copy`], and `bytes` ≥ 64.
#[target_feature(enable = "avx512f")]
unsafe fn vectors(to: *mut u8, from: *const u8, bytes: usize) {
    // SAFETY: up to 128 bytes, the first 64 and the last 64; up to 256, the first 128 and the last 128; above that
    // the first 64, then aligned blocks of 128 while more than 128 are left, then the last 128. Each lies within
    // `bytes`. Loads may see bytes that were copied already in no case, because the buffers do not overlap.
    unsafe {
        asm!(
            "cmp {n}, 128",
            "ja 2f",
            "vmovdqu64 zmm16, [{from}]",
            "vmovdqu64 zmm17, [{from} + {n} - 64]",
            "vmovdqu64 [{to}], zmm16",
            "vmovdqu64 [{to} + {n} - 64], zmm17",
            "jmp 5f",
            "2:",
            "lea {last_from}, [{from} + {n} - 128]",
            "lea {last_to}, [{to} + {n} - 128]",
            "vmovdqu64 zmm16, [{from}]",
            "cmp {n}, 256",
            "jbe 4f",
            // To the next line of the destination: every store that is not aligned splits one.
            "vmovdqu64 [{to}], zmm16",
            "mov {step}, {to}",
            "and {step}, 63",
            "sub {step}, 64",
            "sub {from}, {step}",
            "sub {to}, {step}",
            ".p2align 5",
            "3:",
            "vmovdqu64 zmm16, [{from}]",
            "vmovdqu64 zmm17, [{from} + 64]",
            "vmovdqa64 [{to}], zmm16",
            "vmovdqa64 [{to} + 64], zmm17",
            "sub {from}, -128",
            "sub {to}, -128",
            "cmp {to}, {last_to}",
            "jb 3b",
            "jmp 6f",
            "4:",
            "vmovdqu64 zmm17, [{from} + 64]",
            "vmovdqu64 [{to}], zmm16",
            "vmovdqu64 [{to} + 64], zmm17",
            "6:",
            "vmovdqu64 zmm16, [{last_from}]",
            "vmovdqu64 zmm17, [{last_from} + 64]",
            "vmovdqu64 [{last_to}], zmm16",
            "vmovdqu64 [{last_to} + 64], zmm17",
            "5:",
            to = inout(reg) to => _,
            from = inout(reg) from => _,
            n = in(reg) bytes,
            step = out(reg) _,
            last_from = out(reg) _,
            last_to = out(reg) _,
            out("zmm16") _, out("zmm17") _,
            options(nostack)
        );
    }
}
