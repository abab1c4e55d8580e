//! Copies of up to 64 bytes without a call: at most four moves, overlapping where the length is none of theirs.

use crate::branch::cold_path;

macro_rules! ends {
    ($word:ty, $to:ident, $from:ident, $bytes:ident) => {{
        let last = $bytes - size_of::<$word>();
        // SAFETY: the first and the last bytes of a run of at least that length, by the caller's promise.
        let first_word = unsafe { $from.cast::<$word>().read_unaligned() };
        // SAFETY: as above.
        let last_word = unsafe { $from.add(last).cast::<$word>().read_unaligned() };
        // SAFETY: as above, for writing.
        unsafe { $to.cast::<$word>().write_unaligned(first_word) };
        // SAFETY: as above, for writing.
        unsafe { $to.add(last).cast::<$word>().write_unaligned(last_word) };
    }};
}

/// Copies at most 64 bytes.
///
/// # Safety
/// `from` is readable and `to` writable for `bytes` bytes, and they do not overlap. Either may be shared with another
/// process that writes meanwhile: the bytes copied are then unspecified, but only they.
#[inline(always)]
pub unsafe fn copy_small(to: *mut u8, from: *const u8, bytes: usize) {
    // Before all others, by a comparison of its own: a table or a tree of comparisons takes four instructions more.
    if bytes == 8 {
        // SAFETY: eight bytes by the caller's promise.
        let word = unsafe { from.cast::<u64>().read_unaligned() };
        // SAFETY: as above, for writing.
        return unsafe { to.cast::<u64>().write_unaligned(word) };
    }
    cold_path();
    match bytes {
        0 => {}
        1 => {
            // SAFETY: one byte by the caller's promise.
            let byte = unsafe { *from };
            // SAFETY: as above, for writing.
            unsafe { *to = byte };
        }
        2..4 => ends!(u16, to, from, bytes),
        4..8 => ends!(u32, to, from, bytes),
        8..=16 => ends!(u64, to, from, bytes),
        17..=32 => ends!([u64; 2], to, from, bytes),
        _ => {
            debug_assert!(bytes <= 64);
            ends!([u64; 4], to, from, bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::copy_small;

    #[test]
    fn every_length() {
        let from: [u8; 64] = core::array::from_fn(|index| index as u8 + 1);
        for bytes in 0..=64 {
            let mut to = [0u8; 80];
            // SAFETY: both arrays hold at least 64 bytes from there.
            unsafe { copy_small(to[8..].as_mut_ptr(), from.as_ptr(), bytes) };
            assert_eq!(to[8..8 + bytes], from[..bytes]);
            assert!(to[..8].iter().chain(&to[8 + bytes..]).all(|byte| *byte == 0));
        }
    }
}
