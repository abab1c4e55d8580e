//! A thread of the library's own.

use crate::{Error, Result};
use core::ffi::c_void;
use core::mem::MaybeUninit;

/// It ends when its function returns.
#[derive(Debug)]
pub struct Thread(libc::pthread_t);

impl Thread {
    /// Runs a function in a new thread, which takes no signals of the program's. `Err(OutOfResource)`.
    pub fn start(run: fn()) -> Result<Thread> {
        let mut thread = MaybeUninit::uninit();
        let mut all = MaybeUninit::uninit();
        let mut former = MaybeUninit::uninit();
        // SAFETY: writable.
        unsafe { libc::sigfillset(all.as_mut_ptr()) };
        // What an instruction of the thread itself raises: blocked, it would end the process past the program's handler.
        for own in [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP] {
            // SAFETY: the set was just filled.
            unsafe { libc::sigdelset(all.as_mut_ptr(), own) };
        }
        // A thread begins with the mask of the one that made it.
        // SAFETY: one set was just filled, the other one is writable.
        unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, all.as_ptr(), former.as_mut_ptr()) };
        // SAFETY: `enter` is given what it expects; the thread is joined or lives as long as the process.
        let refused =
            unsafe { libc::pthread_create(thread.as_mut_ptr(), core::ptr::null(), enter, run as *mut c_void) };
        // SAFETY: written by the call above, which cannot fail with these arguments.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, former.as_ptr(), core::ptr::null_mut()) };
        // SAFETY: written where the call did not fail.
        if refused == 0 { Ok(Thread(unsafe { thread.assume_init() })) } else { Err(Error::OutOfResource) }
    }

    /// Waits for its end.
    pub fn join(self) {
        // SAFETY: a thread that was made and not joined: joining takes it.
        let failed = unsafe { libc::pthread_join(self.0, core::ptr::null_mut()) };
        debug_assert_eq!(failed, 0);
    }
}

extern "C" fn enter(run: *mut c_void) -> *mut c_void {
    // SAFETY: `start` passes a `fn()`.
    let run = unsafe { core::mem::transmute::<*mut c_void, fn()>(run) };
    run();
    core::ptr::null_mut()
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::sync::{AtomicU32, Ordering};

    static RAN: AtomicU32 = AtomicU32::new(0);

    #[test]
    fn it_runs_and_ends() {
        let thread = Thread::start(|| RAN.store(7, Ordering::Relaxed)).unwrap();
        thread.join();
        assert_eq!(RAN.load(Ordering::Relaxed), 7);
    }
}
