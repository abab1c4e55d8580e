//! What a hosted library without std must bring along: the global allocator and the panic handler.
//!
//! The image crate that `cargo xtask build` generates depends on this one and on the chosen components; nobody else
//! does. Owns the heap: memory comes from `mmap`, never from the program's `malloc`, which a memory component may be
//! intercepting and which must not notice us.
//!
//! Empty without the feature `runtime`, which only an image turns on: where a whole workspace is built, some tool's
//! features bring std and its panic handler along.
//!
//! **Invariant:** no symbol of this crate leaves the library; the pipeline localizes everything but `MPI_*`/`PMPI_*`.
#![no_std]
#![cfg(feature = "runtime")]
#![allow(unsafe_code)]

mod heap;

use core::panic::PanicInfo;
use opal_core::sync::{AtomicBool, Ordering};

#[global_allocator]
static HEAP: heap::Heap = heap::Heap::new();

static PANICKING: AtomicBool = AtomicBool::new(false);

/// A defect of ours: say where and end the process with a signal that leaves a core file.
#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    // Relaxed: the flag guards against a panic inside this very function; it publishes nothing.
    if PANICKING.swap(true, Ordering::Relaxed) {
        opal_core::sys::write_stderr(b"[ompi-rs] a second panic while the first was being told\n");
    } else {
        match info.location() {
            Some(at) => opal_core::message!(
                "internal error at {}:{}: {}; this is a defect of the library, please report it",
                at.file(),
                at.line(),
                info.message()
            ),
            None => opal_core::message!("internal error: {}; please report it", info.message()),
        }
    }
    // SAFETY: abort has no preconditions.
    unsafe { libc::abort() }
}

/// Named by the unwind tables of the precompiled core library; never called, because a panic aborts.
///
/// The compiler refuses an executable without it, and a Rust program that links this library has its own: ours is
/// localized before it can meet that one.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() -> i32 {
    // _URC_FATAL_PHASE1_ERROR: an unwinder that gets here anyway must stop.
    3
}
