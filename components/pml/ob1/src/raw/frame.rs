//! Places in a transport's memory.

use opal_core::framework::memcpy;

/// Writes a frame where a transport has made room for exactly that.
pub fn copy_frame(place: *mut u8, frame: &[u8]) {
    // SAFETY: the contract of `Module::send`, whose `fill` alone calls this.
    unsafe { memcpy::copy(place, frame.as_ptr(), frame.len()) };
}
