//! The kernels.
#![allow(unsafe_code)]

/// `out[i] = first[i] + second[i]`, for values of any alignment.
///
/// # Safety
/// `first` and `second` are readable and `out` is writable for `count` values; `out` may be where `second` is.
pub unsafe fn sum_of_ints(first: *const u8, second: *const u8, out: *mut u8, count: usize) {
    let (first, second, out) = (first.cast::<i32>(), second.cast::<i32>(), out.cast::<i32>());
    for index in 0..count {
        // SAFETY: one of the caller's values.
        let a = unsafe { first.wrapping_add(index).read_unaligned() };
        // SAFETY: as above.
        let b = unsafe { second.wrapping_add(index).read_unaligned() };
        // SAFETY: as above.
        unsafe { out.wrapping_add(index).write_unaligned(a.wrapping_add(b)) };
    }
}
