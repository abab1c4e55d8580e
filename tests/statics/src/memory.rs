//! What a component of framework memory must do, through the framework's own functions.
#![allow(unsafe_code)] // mappings

use opal_core::Error;
use opal_core::framework::memory::{on_release, watches};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Either every unmapping is told before it happens, or the framework says that nobody watches.
pub fn keeps_its_word() {
    if !watches() {
        assert_eq!(on_release(listen), Err(Error::Unsupported));
        return;
    }
    assert_eq!(on_release(listen), Ok(()));
    for pages in [1, 2, 64] {
        let bytes = pages * PAGE;
        let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping.
        let base = unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, flags, -1, 0) };
        assert_ne!(base, libc::MAP_FAILED);
        WANTED.store(base as usize, Ordering::Relaxed);
        TOLD.store(0, Ordering::Relaxed);
        // SAFETY: the mapping above, which nobody else knows.
        assert_eq!(unsafe { libc::munmap(base, bytes) }, 0);
        assert!(TOLD.load(Ordering::Relaxed) >= bytes, "{pages} pages went away untold");
    }
}

fn listen(address: usize, bytes: usize) {
    if (address..address + bytes).contains(&WANTED.load(Ordering::Relaxed)) {
        TOLD.store(bytes, Ordering::Relaxed);
    }
}

static WANTED: AtomicUsize = AtomicUsize::new(0);
static TOLD: AtomicUsize = AtomicUsize::new(0);
const PAGE: usize = 4096;
