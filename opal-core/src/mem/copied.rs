//! The test of every copy of this module.

extern crate std;

use std::vec;

/// Copies up to 4097 bytes to places that begin otherwise than pages or lines do.
pub fn all_and_nothing_else(copy: unsafe fn(*mut u8, *const u8, usize)) {
    let from: vec::Vec<u8> = (0..5000u32).map(|at| (at * 7 % 251) as u8).collect();
    for bytes in (0..700).chain([1023, 1024, 1025, 4095, 4096, 4097]) {
        for (shift, source) in [(0, 0), (1, 3), (15, 3), (16, 3), (63, 0), (64, 17)] {
            let mut to = vec![255; 5000];
            let (place, data) = (to.as_mut_ptr().wrapping_add(shift), from.as_ptr().wrapping_add(source));
            // SAFETY: both vectors are long enough.
            unsafe { copy(place, data, bytes) };
            assert_eq!(to[shift..shift + bytes], from[source..source + bytes], "{bytes} bytes");
            assert!(to[..shift].iter().chain(&to[shift + bytes..]).all(|byte| *byte == 255), "{bytes} bytes");
        }
    }
}
