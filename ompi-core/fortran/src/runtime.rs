//! What a library without std must bring along. Nothing here panics on purpose.

use core::panic::PanicInfo;

unsafe extern "C" {
    safe fn abort() -> !;
}

#[panic_handler]
fn panic(_info: &PanicInfo<'_>) -> ! {
    abort()
}

/// Named by the unwind tables of the precompiled core library; never called, because a panic aborts.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() -> i32 {
    // _URC_FATAL_PHASE1_ERROR: an unwinder that gets here anyway must stop.
    3
}
