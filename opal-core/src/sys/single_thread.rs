//! Whether the process has one thread only, for locks around what even a program with one thread uses all the time.

#[cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))]
use core::sync::atomic::{AtomicU8, Ordering};

/// Whether the process certainly has one thread: the C library of GNU says so since 2.32 (`__libc_single_threaded`), no other
/// does. False stays false as long as another thread is there; a thread that finds true is the only one until it starts
/// another.
#[inline(always)]
pub fn is_single_threaded() -> bool {
    #[cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))]
    {
        let said: *const AtomicU8;
        // SAFETY: reads an address from the table that the linker fills; 0 where the C library has no such symbol.
        unsafe {
            core::arch::asm!(
                ".weak __libc_single_threaded",
                "mov {said}, qword ptr [rip + __libc_single_threaded@GOTPCREL]",
                said = out(reg) said,
                options(pure, readonly, nostack, preserves_flags)
            );
        }
        // SAFETY: null, or the address of the C library's `char`, which stays. Relaxed: only this thread could change it to false.
        return unsafe { said.as_ref() }.is_some_and(|said| said.load(Ordering::Relaxed) != 0);
    }
    #[allow(unreachable_code, reason = "of one target")]
    false
}

#[cfg(test)]
mod tests {
    #[test]
    fn two_threads_are_not_one() {
        std::thread::scope(|scope| {
            let here = super::is_single_threaded();
            let there = scope.spawn(super::is_single_threaded).join();
            assert_eq!((here, there.ok()), (false, Some(false)), "this test is a thread of its own");
        });
    }
}
