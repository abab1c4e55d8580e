//! The loops over users' memory as the compiler makes them for every processor, and the x87 unit.
#![allow(unsafe_code)]

mod extended;

pub use extended::Extended;

use ompi_core::framework::op::formulas::Combine;
use ompi_core::framework::op::loops;

/// `inout[i] = input[i] op inout[i]`, for values of any alignment.
///
/// # Safety
/// That of [`loops::each`].
pub unsafe fn run<T: Copy, C: Combine<T>>(input: *const u8, inout: *mut u8, count: usize) {
    // SAFETY: the caller's promise.
    unsafe { loops::each::<T, C>(input, inout, count) }
}
