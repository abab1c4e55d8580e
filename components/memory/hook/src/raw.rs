//! The functions that stand in for the C library's. Each tells what goes, then makes the system call that the C
//! library would make, with its result and `errno`.
#![allow(unsafe_code)]

use crate::report::released;
use core::ffi::{c_int, c_long, c_void};
use opal_core::sync::{AtomicBool, Ordering};

/// Whether `malloc` keeps its memory.
pub fn watches() -> bool {
    // Relaxed: set before main, when there is one thread.
    KEEPS.load(Ordering::Relaxed)
}

static KEEPS: AtomicBool = AtomicBool::new(false);

#[used]
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = before_main;

extern "C" fn before_main() {
    const M_ARENA_MAX: c_int = -8; // malloc.h; the libc crate leaves it out
    let settings = [(libc::M_MMAP_MAX, 0), (libc::M_TRIM_THRESHOLD, -1), (M_ARENA_MAX, 1)];
    // SAFETY: mallopt has no preconditions.
    let kept = settings.iter().all(|(setting, value)| unsafe { libc::mallopt(*setting, *value) } == 1);
    KEEPS.store(kept, Ordering::Relaxed);
}

/// `munmap(2)`.
///
/// # Safety
/// As the C library's; so for all that follow.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn munmap(address: *mut c_void, bytes: usize) -> c_int {
    released("munmap", address.addr(), bytes);
    // SAFETY: the caller's call, passed on.
    unsafe { libc::syscall(libc::SYS_munmap, address, bytes) as c_int }
}

/// `mmap(2)`: what lies under a fixed mapping goes.
///
/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmap(
    address: *mut c_void,
    bytes: usize,
    protection: c_int,
    flags: c_int,
    descriptor: c_int,
    offset: i64,
) -> *mut c_void {
    // MAP_FIXED_NOREPLACE is another bit and replaces nothing.
    if flags & libc::MAP_FIXED != 0 {
        released("mmap", address.addr(), bytes);
    }
    // SAFETY: the caller's call, passed on.
    pointer(unsafe { libc::syscall(libc::SYS_mmap, address, bytes, protection, flags, descriptor, offset) })
}

/// [`mmap`]: offsets have 64 bits here anyway.
///
/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmap64(
    address: *mut c_void,
    bytes: usize,
    protection: c_int,
    flags: c_int,
    descriptor: c_int,
    offset: i64,
) -> *mut c_void {
    // SAFETY: the caller's call, passed on.
    unsafe { mmap(address, bytes, protection, flags, descriptor, offset) }
}

/// `mremap(2)`: a block may move or shrink, and may land on another. Declared variadic in C; the fifth argument is
/// looked at only where the flags say that it is there.
///
/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mremap(
    address: *mut c_void,
    old_bytes: usize,
    new_bytes: usize,
    flags: c_int,
    target: *mut c_void,
) -> *mut c_void {
    if flags & libc::MREMAP_FIXED != 0 {
        released("mremap", target.addr(), new_bytes);
    }
    let moves = flags & (libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED | MREMAP_DONTUNMAP) != 0;
    match new_bytes < old_bytes && flags & libc::MREMAP_FIXED == 0 {
        true => released("mremap", address.addr().saturating_add(new_bytes), old_bytes - new_bytes),
        // An old length of 0 makes a second mapping and leaves the first.
        false if moves => released("mremap", address.addr(), old_bytes),
        false => {}
    }
    // SAFETY: the caller's call, passed on.
    pointer(unsafe { libc::syscall(libc::SYS_mremap, address, old_bytes, new_bytes, flags, target) })
}

/// `madvise(2)`: some advice drops the pages at once or soon.
///
/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn madvise(address: *mut c_void, bytes: usize, advice: c_int) -> c_int {
    if matches!(advice, libc::MADV_DONTNEED | libc::MADV_FREE | libc::MADV_REMOVE | MADV_DONTNEED_LOCKED) {
        released("madvise", address.addr(), bytes);
    }
    // SAFETY: the caller's call, passed on.
    unsafe { libc::syscall(libc::SYS_madvise, address, bytes, advice) as c_int }
}

unsafe extern "C" {
    // Where the C library believes the heap to end; its own sbrk, inside malloc, goes on from there.
    static mut __curbrk: *mut c_void;
}

/// `brk(2)`: the heap may shrink.
///
/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn brk(end: *mut c_void) -> c_int {
    // SAFETY: a plain read of the C library's variable, as its own brk does; brk is not for two threads at once.
    let before = unsafe { __curbrk };
    if !end.is_null() && end < before {
        released("brk", end.addr(), before.addr() - end.addr());
    }
    // SAFETY: the caller's call, passed on.
    let now = pointer(unsafe { libc::syscall(libc::SYS_brk, end) });
    // SAFETY: as the read above.
    unsafe { __curbrk = now };
    if now < end {
        // SAFETY: the thread's own errno.
        let errno = unsafe { libc::__errno_location() };
        // SAFETY: as above.
        unsafe { errno.write(libc::ENOMEM) };
        return -1;
    }
    0
}

/// `sbrk(2)`.
///
/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sbrk(change: isize) -> *mut c_void {
    // SAFETY: as in `brk`.
    if unsafe { __curbrk }.is_null() {
        // SAFETY: asks where the end is; changes nothing.
        unsafe { brk(core::ptr::null_mut()) };
    }
    // SAFETY: as in `brk`.
    let before = unsafe { __curbrk };
    if change == 0 {
        return before;
    }
    let Some(end) = before.addr().checked_add_signed(change) else {
        // SAFETY: the thread's own errno.
        let errno = unsafe { libc::__errno_location() };
        // SAFETY: as above.
        unsafe { errno.write(libc::ENOMEM) };
        return libc::MAP_FAILED;
    };
    // SAFETY: the caller's call, passed on.
    match unsafe { brk(before.with_addr(end)) } {
        0 => before,
        _ => libc::MAP_FAILED,
    }
}

/// `shmat(2)`: with SHM_REMAP, what lies there goes. How much is not known here: everything above counts as told.
///
/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn shmat(segment: c_int, address: *const c_void, flags: c_int) -> *mut c_void {
    if flags & libc::SHM_REMAP != 0 {
        released("shmat", address.addr(), usize::MAX - address.addr());
    }
    // SAFETY: the caller's call, passed on.
    pointer(unsafe { libc::syscall(libc::SYS_shmat, segment, address, flags) })
}

/// `shmdt(2)`: the length is the system's secret; everything above counts as told.
///
/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn shmdt(address: *const c_void) -> c_int {
    released("shmdt", address.addr(), usize::MAX - address.addr());
    // SAFETY: the caller's call, passed on.
    unsafe { libc::syscall(libc::SYS_shmdt, address) as c_int }
}

/// `malloc_trim(3)`: gives nothing back, which is a result that it may have.
#[unsafe(no_mangle)]
pub extern "C" fn malloc_trim(_keep: usize) -> c_int {
    0
}

/// The address that a system call returned; -1 is MAP_FAILED.
fn pointer(result: c_long) -> *mut c_void {
    core::ptr::with_exposed_provenance_mut(result as usize)
}

// linux/mman.h
const MREMAP_DONTUNMAP: c_int = 4;
const MADV_DONTNEED_LOCKED: c_int = 24;
