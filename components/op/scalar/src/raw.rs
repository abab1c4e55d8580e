//! The loops over users' memory, and the x87 unit.
#![allow(unsafe_code)]

mod extended;

pub use extended::Extended;

use crate::combine::Combine;

/// `inout[i] = input[i] op inout[i]`, for values of any alignment.
///
/// # Safety
/// `input` is readable and `inout` readable and writable for `count` values of `T`, of which every bit pattern is one;
/// they do not overlap unless they are equal.
pub unsafe fn run<T: Copy, C: Combine<T>>(input: *const u8, inout: *mut u8, count: usize) {
    let (input, inout) = (input.cast::<T>(), inout.cast::<T>());
    for index in 0..count {
        let from = input.wrapping_add(index);
        // SAFETY: index < count.
        let first = unsafe { from.read_unaligned() };
        let place = inout.wrapping_add(index);
        // SAFETY: index < count.
        let second = unsafe { place.read_unaligned() };
        // SAFETY: index < count.
        unsafe { place.write_unaligned(C::apply(first, second)) };
    }
}
