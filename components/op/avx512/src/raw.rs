//! The loop for this processor.
#![allow(unsafe_code)]

use ompi_core::framework::op::formulas::Combine;
use ompi_core::framework::op::loops;

/// `out[i] = first[i] op second[i]`, for values of any alignment.
///
/// # Safety
/// That of [`loops::each`], and the processor has AVX-512: the component opens only then.
#[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl")]
pub unsafe fn run<T: Copy, C: Combine<T>>(first: *const u8, second: *const u8, out: *mut u8, count: usize) {
    // SAFETY: the caller's promise.
    unsafe { loops::each::<T, C>(first, second, out, count) }
}
