//! Places in another transport's memory.
#![allow(unsafe_code)]

use opal_core::framework::memcpy;

/// Writes a payload where a transport has made room for exactly that.
pub fn copy(place: *mut u8, payload: &[u8]) {
    // SAFETY: the contract of `Module::send`, whose `fill` alone calls this.
    unsafe { memcpy::copy(place, payload.as_ptr(), payload.len()) };
}

/// Changes a bit there.
///
/// # Panics
/// If there is no such bit.
pub fn flip(place: *mut u8, bytes: usize, bit: usize) {
    assert!(bit / 8 < bytes);
    let byte = place.wrapping_add(bit / 8);
    // SAFETY: within what a transport has made room for, which `fill` has written.
    let value = unsafe { byte.read() };
    // SAFETY: as above.
    unsafe { byte.write(value ^ 1 << (bit % 8)) };
}
