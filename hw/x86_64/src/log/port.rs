//! Serial port 2, for one core at a time.
#![allow(unsafe_code)] // the section of shared data

use crate::serial;
use core::sync::atomic::{AtomicBool, Ordering};

/// Waits until no other core sends.
pub fn take() {
    // Acquire pairs with the Release in `give`: one line, or one frame, at a time.
    while TAKEN.swap(true, Ordering::Acquire) {
        core::hint::spin_loop();
    }
}

/// Lets another core send.
pub fn give() {
    TAKEN.store(false, Ordering::Release);
}

/// Sends bytes, by the core that took the port.
pub fn send(bytes: &[u8]) {
    bytes.iter().for_each(|byte| serial::SECOND.put(*byte));
}

#[unsafe(link_section = ".shared")]
static TAKEN: AtomicBool = AtomicBool::new(false);
