//! Stands in for the image crate in this crate's own unit tests.
#![allow(unsafe_code)]

opal_core::image![];
opal_core::provide_memcpy!(copy);
opal_core::provide_timer!(ticks, frequency);

unsafe fn copy(to: *mut u8, from: *const u8, bytes: usize) {
    // SAFETY: the contract of `framework::memcpy::copy`.
    unsafe { core::ptr::copy(from, to, bytes) }
}

fn ticks() -> u64 {
    0
}

fn frequency() -> u64 {
    1_000_000_000
}
