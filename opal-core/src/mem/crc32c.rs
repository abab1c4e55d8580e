//! CRC32C: the checksum of iSCSI (RFC 3720 §12.1, Castagnoli's polynomial 0x1EDC6F41, reflected), by the processor's instruction
//! where it has one, else by a table.
//!
//! The instruction takes 8 bytes and its result comes three cycles later. So long data is three runs that are computed at
//! the same time and then joined: what a run contributes is what it would be with as many zero bytes behind it as follow,
//! which is linear and stands in tables.

use crate::sync::Once;
use crate::sys::cpu;

/// The CRC32C of bytes.
pub fn crc32c(bytes: &[u8]) -> u32 {
    Crc32c::new().with(bytes).value()
}

/// A CRC32C of bytes that come piece by piece.
#[derive(Clone, Copy, Debug)]
pub struct Crc32c(u32);

impl Crc32c {
    /// Of nothing.
    pub const fn new() -> Crc32c {
        Crc32c(!0)
    }

    /// With these bytes behind the others.
    pub fn with(self, bytes: &[u8]) -> Crc32c {
        // SAFETY: a slice is readable for its length.
        unsafe { self.with_raw(bytes.as_ptr(), bytes.len()) }
    }

    /// With bytes of the user's, which no reference may name.
    ///
    /// # Safety
    /// `at` is readable for `bytes`.
    pub unsafe fn with_raw(self, at: *const u8, bytes: usize) -> Crc32c {
        if *HAS_INSTRUCTION.call_once(cpu::has_sse42) {
            // SAFETY: the caller's promise; the processor was asked.
            return Crc32c(unsafe { instruction::update(self.0, at, bytes) });
        }
        // SAFETY: the caller's promise.
        Crc32c(unsafe { table(self.0, at, bytes) })
    }

    /// The checksum.
    pub const fn value(self) -> u32 {
        !self.0
    }
}

impl Default for Crc32c {
    fn default() -> Crc32c {
        Crc32c::new()
    }
}

static HAS_INSTRUCTION: Once<bool> = Once::new();

/// # Safety
/// `at` is readable for `bytes`.
unsafe fn table(mut crc: u32, at: *const u8, bytes: usize) -> u32 {
    for index in 0..bytes {
        // SAFETY: within the run.
        crc = after_byte(crc, unsafe { at.wrapping_add(index).read() });
    }
    crc
}

const fn after_byte(crc: u32, byte: u8) -> u32 {
    BYTES[(crc as u8 ^ byte) as usize] ^ (crc >> 8)
}

const POLYNOMIAL: u32 = 0x82f6_3b78;

const BYTES: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut crc, mut bit) = (byte as u32, 0);
        while bit < 8 {
            crc = (crc >> 1) ^ ((crc & 1) * POLYNOMIAL);
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
};

#[cfg(target_arch = "x86_64")]
mod instruction {
    use super::after_byte;
    use core::arch::asm;

    /// # Safety
    /// `at` is readable for `bytes`, and the processor has SSE4.2.
    pub unsafe fn update(mut crc: u32, mut at: *const u8, mut bytes: usize) -> u32 {
        while bytes >= 3 * RUN {
            let (mut first, mut second, mut third) = (u64::from(crc), 0, 0);
            for place in (0..RUN).step_by(8) {
                let at = at.wrapping_add(place);
                // SAFETY: within the first run.
                first = step(first, unsafe { word(at) });
                // SAFETY: within the second.
                second = step(second, unsafe { word(at.wrapping_add(RUN)) });
                // SAFETY: within the third.
                third = step(third, unsafe { word(at.wrapping_add(2 * RUN)) });
            }
            crc = past_run(past_run(first as u32) ^ second as u32) ^ third as u32;
            (at, bytes) = (at.wrapping_add(3 * RUN), bytes - 3 * RUN);
        }
        while bytes >= 8 {
            // SAFETY: eight are left.
            crc = step(u64::from(crc), unsafe { word(at) }) as u32;
            (at, bytes) = (at.wrapping_add(8), bytes - 8);
        }
        // SAFETY: what is left.
        unsafe { super::table(crc, at, bytes) }
    }

    /// # Safety
    /// Eight bytes are readable.
    #[inline(always)]
    unsafe fn word(at: *const u8) -> u64 {
        // SAFETY: the caller's promise.
        unsafe { at.cast::<u64>().read_unaligned() }
    }

    #[inline(always)]
    fn step(mut crc: u64, word: u64) -> u64 {
        // SAFETY: changes one register; the caller of `update` has seen SSE4.2. As text, since a function with that target feature
        // does not inline here.
        unsafe {
            asm!("crc32 {crc}, {word}", crc = inout(reg) crc, word = in(reg) word, options(pure, nomem, nostack, preserves_flags))
        };
        crc
    }

    fn past_run(crc: u32) -> u32 {
        let [a, b, c, d] = crc.to_le_bytes();
        PAST_RUN[0][a as usize] ^ PAST_RUN[1][b as usize] ^ PAST_RUN[2][c as usize] ^ PAST_RUN[3][d as usize]
    }

    /// Bytes of a run: long enough that joining costs little, short enough that three fit in fragments of 4 KiB.
    pub const RUN: usize = 1024;

    /// By byte of a checksum: what becomes of it with [`RUN`] zero bytes behind.
    static PAST_RUN: [[u32; 256]; 4] = {
        let mut tables = [[0; 256]; 4];
        let mut bit = 0;
        while bit < 32 {
            let (mut crc, mut left) = (1u32 << bit, RUN);
            while left > 0 {
                crc = after_byte(crc, 0);
                left -= 1;
            }
            let (table, own) = (&mut tables[bit / 8], 1 << (bit % 8));
            let mut byte = 0;
            while byte < 256 {
                if byte & own != 0 {
                    table[byte] ^= crc;
                }
                byte += 1;
            }
            bit += 1;
        }
        tables
    };
}

#[cfg(not(target_arch = "x86_64"))]
mod instruction {
    /// # Safety
    /// Not called: no processor of this kind says that it has the instruction.
    pub unsafe fn update(crc: u32, at: *const u8, bytes: usize) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { super::table(crc, at, bytes) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    /// RFC 3720 B.4, and the check value of the catalogues.
    #[test]
    fn published_values() {
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
        assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
        assert_eq!(crc32c(&[0xff; 32]), 0x62a8_ab43);
        let rising: Vec<u8> = (0..32).collect();
        assert_eq!(crc32c(&rising), 0x46dd_794e);
        assert_eq!(crc32c(&[]), 0);
    }

    #[test]
    fn instruction_table_and_pieces_agree() {
        let bytes: Vec<u8> = (0..9000u32).map(|at| (at * at % 251) as u8).collect();
        for length in (0..70).chain([1023, 3071, 3072, 3073, 6150, 8999]) {
            for from in [0, 1] {
                let run = &bytes[from..from + length];
                // SAFETY: a slice is readable for its length.
                let expected = !unsafe { table(!0, run.as_ptr(), run.len()) };
                assert_eq!(crc32c(run), expected, "{length} bytes");
                let (one, other) = run.split_at(length / 3);
                assert_eq!(Crc32c::new().with(one).with(other).value(), expected, "{length} bytes in two pieces");
            }
        }
    }
}
