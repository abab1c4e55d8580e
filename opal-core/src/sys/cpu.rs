//! The processor's abilities by CPUID, and whether the system saves the registers that they need.
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::__cpuid_count;

/// SSE4.2, with the instruction for CRC32C.
pub fn has_sse42() -> bool {
    features() & SSE42 != 0
}

/// AVX2.
pub fn has_avx2() -> bool {
    extended_features() & AVX2 != 0 && saved_registers() & YMM == YMM
}

/// The foundation of AVX-512.
pub fn has_avx512f() -> bool {
    extended_features() & AVX512F != 0 && saved_registers() & ZMM == ZMM
}

/// What all processors with AVX-512 but the first have: vectors of any integer, of any length (F, DQ, BW, VL).
pub fn has_avx512() -> bool {
    const WANTED: u32 = AVX512F | AVX512DQ | AVX512BW | AVX512VL;
    extended_features() & WANTED == WANTED && saved_registers() & ZMM == ZMM
}

/// ECX of leaf 1.
#[cfg(target_arch = "x86_64")]
fn features() -> u32 {
    __cpuid_count(1, 0).ecx
}

/// EBX of leaf 7; 0 where there is none.
#[cfg(target_arch = "x86_64")]
fn extended_features() -> u32 {
    if __cpuid_count(0, 0).eax >= 7 { __cpuid_count(7, 0).ebx } else { 0 }
}

/// XCR0: what the system saves when it switches; 0 where nobody can ask.
#[cfg(target_arch = "x86_64")]
fn saved_registers() -> u32 {
    const OSXSAVE_AVX: u32 = 1 << 27 | 1 << 28;
    if features() & OSXSAVE_AVX != OSXSAVE_AVX {
        return 0;
    }
    let low: u32;
    // SAFETY: OSXSAVE was seen, so `xgetbv` exists; it reads a register.
    unsafe {
        core::arch::asm!("xgetbv", in("ecx") 0, out("eax") low, out("edx") _, options(nomem, nostack, preserves_flags))
    };
    low
}

#[cfg(not(target_arch = "x86_64"))]
fn features() -> u32 {
    0
}

#[cfg(not(target_arch = "x86_64"))]
fn extended_features() -> u32 {
    0
}

#[cfg(not(target_arch = "x86_64"))]
fn saved_registers() -> u32 {
    0
}

const SSE42: u32 = 1 << 20;
const AVX2: u32 = 1 << 5;
const AVX512F: u32 = 1 << 16;
const AVX512DQ: u32 = 1 << 17;
const AVX512BW: u32 = 1 << 30;
const AVX512VL: u32 = 1 << 31;
const YMM: u32 = 0b110;
// xmm, ymm, mask registers, upper halves of zmm0–15, zmm16–31.
const ZMM: u32 = 0b1110_0110;
