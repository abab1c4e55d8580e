//! The loops over users' memory as the compiler makes them for every processor, and the x87 unit.
#![allow(unsafe_code)]

mod extended;

pub use extended::Extended;

use ompi_core::framework::op::formulas::Combine;
use ompi_core::framework::op::loops;

/// `out[i] = first[i] op second[i]`, for values of any alignment.
///
/// # Safety
/// That of [`loops::each`].
pub unsafe fn run<T: Copy, C: Combine<T>>(first: *const u8, second: *const u8, out: *mut u8, count: usize) {
    // SAFETY: the caller's promise.
    unsafe { loops::each::<T, C>(first, second, out, count) }
}

/// The same for types of which no vector register holds several, or that it cannot combine.
///
/// # Safety
/// That of [`loops::each`].
pub unsafe fn singly<T: Copy, C: Combine<T>>(first: *const u8, second: *const u8, out: *mut u8, count: usize) {
    // SAFETY: the caller's promise.
    unsafe { loops::singly::<T, C>(first, second, out, count) }
}
