//! Copies to a place that lies a few bytes behind the source, counted within a page.
//!
//! There each load of `rep movsb` seems to need what was stored a moment before, since both addresses end alike, and AMD's
//! Zen 3 then copies 3 GB/s where it otherwise copies 96: 16 KiB within the second cache take 5.7 µs, so 0.32, aligned 0.17
//! (`cargo run --release -p bench-statics`). The C library's memcpy is `rep movsb` from a few KiB on. Nothing is unusual about
//! such buffers: malloc's large ones begin 16 bytes behind a page, a transport's rings on one.

/// Whether a string move would stumble.
#[inline(always)]
pub fn is_aliased_4k(to: *const u8, from: *const u8) -> bool {
    (to.addr().wrapping_sub(from.addr()) % PAGE).wrapping_sub(1) < NEAR
}

/// Copies in moves of 16 bytes.
///
/// # Safety
/// `from` is readable and `to` writable for `bytes` bytes, and they do not overlap. Either may be shared with another
/// process that writes meanwhile: the bytes copied are then unspecified, but only they.
#[inline(never)]
pub unsafe fn copy_aliased_4k(to: *mut u8, from: *const u8, bytes: usize) {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    if bytes >= BLOCK {
        // SAFETY: blocks from the beginning while more than one is left, and the last one, which may overlap the one before
        // it. Each lies within `bytes`. No load sees bytes that were copied already, because the buffers do not overlap.
        return unsafe {
            core::arch::asm!(
                "jmp 3f",
                ".p2align 5",
                "2:",
                "movups xmm0, [{from}]",
                "movups xmm1, [{from} + 16]",
                "movups xmm2, [{from} + 32]",
                "movups xmm3, [{from} + 48]",
                "movups [{to}], xmm0",
                "movups [{to} + 16], xmm1",
                "movups [{to} + 32], xmm2",
                "movups [{to} + 48], xmm3",
                "add {from}, 64",
                "add {to}, 64",
                "3:",
                "cmp {from}, {last_from}",
                "jb 2b",
                "movups xmm0, [{last_from}]",
                "movups xmm1, [{last_from} + 16]",
                "movups xmm2, [{last_from} + 32]",
                "movups xmm3, [{last_from} + 48]",
                "movups [{last_to}], xmm0",
                "movups [{last_to} + 16], xmm1",
                "movups [{last_to} + 32], xmm2",
                "movups [{last_to} + 48], xmm3",
                to = inout(reg) to => _,
                from = inout(reg) from => _,
                last_from = in(reg) from.wrapping_add(bytes - BLOCK),
                last_to = in(reg) to.wrapping_add(bytes - BLOCK),
                out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
                options(nostack)
            );
        };
    }
    // SAFETY: the caller's promise.
    unsafe { core::ptr::copy_nonoverlapping(from, to, bytes) }
}

const PAGE: usize = 4096;
/// From 32 bytes on nothing stumbles.
const NEAR: usize = 31;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
const BLOCK: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mem::copied;

    #[test]
    fn what_trails() {
        let at = |address: usize| core::ptr::without_provenance::<u8>(address);
        for (to, from, trails) in [
            (0x5010, 0x1000, true),
            (0x5001, 0x1000, true),
            (0x501f, 0x1000, true),
            (0x5005, 0x1ffe, true),
            (0x5000, 0x1000, false),
            (0x5020, 0x1000, false),
            (0x5000, 0x1010, false),
            (0x5800, 0x1000, false),
        ] {
            assert_eq!(is_aliased_4k(at(to), at(from)), trails, "{to:x} {from:x}");
        }
    }

    #[test]
    fn copies_all_and_nothing_else() {
        copied::all_and_nothing_else(copy_aliased_4k);
    }
}
