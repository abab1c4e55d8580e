//! Starting a program that is to live beside this one.

use core::ffi::{CStr, c_char, c_int};
use core::ptr;
use rustix::fd::{AsRawFd, BorrowedFd};
use rustix::io::Errno;

unsafe extern "C" {
    static mut environ: *const *mut c_char;
}

/// The descriptor by which the program finds the socket.
pub const SOCKET_NUMBER: i32 = 3;

/// Runs a program with this process's environment until it ends, which is to be soon: one that stays parts from its parent, so that
/// the caller has no child more than before. It finds `socket` as [`SOCKET_NUMBER`], and no signal blocked. Its exit status, -1 if
/// somebody else heard of it.
pub fn run_beside(program: &CStr, arguments: [&CStr; 2], socket: BorrowedFd<'_>) -> Result<c_int, Errno> {
    let checked = |code: c_int| if code == 0 { Ok(()) } else { Err(Errno::from_raw_os_error(code)) };
    let words = [arguments[0].as_ptr().cast_mut(), arguments[1].as_ptr().cast_mut(), ptr::null_mut()];
    // SAFETY: all zeros is a value of these plain structures; each is initialised before it is used.
    let mut actions: libc::posix_spawn_file_actions_t = unsafe { core::mem::zeroed() };
    // SAFETY: as above.
    let mut attributes: libc::posix_spawnattr_t = unsafe { core::mem::zeroed() };
    // SAFETY: as above.
    let mut none: libc::sigset_t = unsafe { core::mem::zeroed() };
    // SAFETY: a place of this function.
    unsafe { libc::sigemptyset(&mut none) };
    // SAFETY: a place of this function, destroyed below.
    checked(unsafe { libc::posix_spawn_file_actions_init(&mut actions) })?;
    // SAFETY: as above.
    let started = checked(unsafe { libc::posix_spawnattr_init(&mut attributes) }).and_then(|()| {
        // SAFETY: initialised above. Where both numbers are equal, close-on-exec goes (POSIX, "dup2 action").
        checked(unsafe { libc::posix_spawn_file_actions_adddup2(&mut actions, socket.as_raw_fd(), SOCKET_NUMBER) })?;
        // SAFETY: initialised above.
        checked(unsafe { libc::posix_spawnattr_setsigmask(&mut attributes, &none) })?;
        // SAFETY: as above.
        checked(unsafe { libc::posix_spawnattr_setflags(&mut attributes, libc::POSIX_SPAWN_SETSIGMASK as _) })?;
        // SAFETY: a plain read of the C library's pointer. As with its own getenv, no other thread may call setenv meanwhile.
        let variables = unsafe { environ };
        let mut pid = 0;
        // SAFETY: texts that a NUL ends, in an array that a null pointer ends; the C library's environment; objects from above.
        let code =
            unsafe { libc::posix_spawn(&mut pid, program.as_ptr(), &actions, &attributes, words.as_ptr(), variables) };
        // SAFETY: initialised above, and not used any more.
        unsafe { libc::posix_spawnattr_destroy(&mut attributes) };
        checked(code).map(|()| pid)
    });
    // SAFETY: as above.
    unsafe { libc::posix_spawn_file_actions_destroy(&mut actions) };
    Ok(wait(started?))
}

fn errno() -> c_int {
    // SAFETY: the C library gives the address of a word of this thread's.
    let place = unsafe { libc::__errno_location() };
    // SAFETY: as above.
    unsafe { *place }
}

fn wait(pid: libc::pid_t) -> c_int {
    let mut status = 0;
    loop {
        // SAFETY: a place of this function.
        match unsafe { libc::waitpid(pid, &mut status, 0) } {
            -1 if errno() == libc::EINTR => {}
            // The program ignores the end of children, or waits for all of them.
            -1 => return -1,
            _ if libc::WIFEXITED(status) => return libc::WEXITSTATUS(status),
            _ => return 128,
        }
    }
}
