//! The functions that stand in for the C library's. Each tells what goes, then makes the system call that the C
//! library would make, with its result and `errno`.
#![allow(unsafe_code)]

use crate::mapped::MAPPED;
use crate::report::{released, unmapped};
use core::ffi::{c_int, c_long, c_void};
use opal_core::sync::{AtomicBool, AtomicUsize, Ordering};

/// Whether `malloc` keeps its memory.
pub fn watches() -> bool {
    // Relaxed: set before main, when there is one thread.
    KEEPS.load(Ordering::Relaxed)
}

/// Whether these bytes end by a call that is seen: they are the heap's, the program's own data, or what the program has mapped.
pub fn sees(address: usize, bytes: usize) -> bool {
    let Some(end) = address.checked_add(bytes).filter(|_| watches()) else { return false };
    let is_within = |low: usize, high: usize| low != 0 && low <= address && end <= high;
    // SAFETY: a plain read of the C library's variable, as its own sbrk does.
    let heap_end = unsafe { __curbrk }.addr();
    // Relaxed: set before main.
    let [heap, data, data_end] = [&HEAP, &DATA, &DATA_END].map(|place| place.load(Ordering::Relaxed));
    is_within(heap, heap_end) || is_within(data, data_end) || MAPPED.has(address, end)
}

static KEEPS: AtomicBool = AtomicBool::new(false);
/// Where the heap begins; 0: not known.
static HEAP: AtomicUsize = AtomicUsize::new(0);
/// The program's variables, which are never unmapped.
static DATA: AtomicUsize = AtomicUsize::new(0);
static DATA_END: AtomicUsize = AtomicUsize::new(0);

#[used]
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = before_main;

extern "C" fn before_main() {
    const M_ARENA_MAX: c_int = -8; // malloc.h; the libc crate leaves it out
    let settings = [(libc::M_MMAP_MAX, 0), (libc::M_TRIM_THRESHOLD, -1), (M_ARENA_MAX, 1)];
    // SAFETY: mallopt has no preconditions.
    let kept = settings.iter().all(|(setting, value)| unsafe { libc::mallopt(*setting, *value) } == 1);
    KEEPS.store(kept, Ordering::Relaxed);
    HEAP.store(heap_start().unwrap_or(0), Ordering::Relaxed);
    // SAFETY: the function is called with what the C library promises, and needs no data.
    unsafe { libc::dl_iterate_phdr(Some(note_data), core::ptr::null_mut()) };
}

/// Where the system lets the heap begin: field 47 of /proc/self/stat. Nothing is allocated.
fn heap_start() -> Option<usize> {
    let mut text = [0; 1024];
    // SAFETY: the path ends with a zero.
    let descriptor = unsafe { libc::open(c"/proc/self/stat".as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
    // SAFETY: the array has so much room. Of a descriptor that is none nothing is read.
    let read = unsafe { libc::read(descriptor, text.as_mut_ptr().cast(), text.len()) };
    // SAFETY: the descriptor of above, which nobody else has.
    unsafe { libc::close(descriptor) };
    let text = text.get(..usize::try_from(read).ok()?)?;
    // The name of the program, field 2, may hold anything; it ends with the last bracket.
    let after = text.iter().rposition(|byte| *byte == b')')? + 2;
    let field = text.get(after..)?.split(|byte| *byte == b' ').nth(47 - 3)?;
    core::str::from_utf8(field).ok()?.parse().ok()
}

/// Notes where the first object, which is the program itself, has its variables; and ends the iteration.
unsafe extern "C" fn note_data(info: *mut libc::dl_phdr_info, _bytes: usize, _data: *mut c_void) -> c_int {
    // SAFETY: the C library's promise.
    let info = unsafe { &*info };
    // SAFETY: so many headers lie there, the C library's promise.
    let headers = unsafe { core::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
    let writable = headers.iter().filter(|header| header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_W != 0);
    if let Some(header) = writable.max_by_key(|header| header.p_memsz) {
        let start = info.dlpi_addr as usize + header.p_vaddr as usize;
        DATA.store(start, Ordering::Relaxed);
        DATA_END.store(start + header.p_memsz as usize, Ordering::Relaxed);
    }
    1
}

/// `munmap(2)`.
///
/// # Safety
/// As the C library's; so for all that follow.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn munmap(address: *mut c_void, bytes: usize) -> c_int {
    unmapped("munmap", address.addr(), bytes);
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
    let is_told = flags & libc::MAP_ANONYMOUS != 0;
    let end = address.addr().saturating_add(bytes);
    match flags & libc::MAP_FIXED != 0 {
        // The end of what comes there will be told as that of what was there.
        true if is_told && MAPPED.has(address.addr(), end) => released("mmap", address.addr(), bytes),
        true => unmapped("mmap", address.addr(), bytes),
        false => {}
    }
    // SAFETY: the caller's call, passed on.
    let result = unsafe { libc::syscall(libc::SYS_mmap, address, bytes, protection, flags, descriptor, offset) };
    // Pages of a file go when anybody makes it shorter or cuts a hole, and no call names their address.
    mapped(result, bytes, is_told)
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
        unmapped("mremap", target.addr(), new_bytes);
    }
    // Elsewhere it is what it was.
    let is_known = MAPPED.has(address.addr(), address.addr().saturating_add(old_bytes.max(1)));
    let moves = flags & (libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED | MREMAP_DONTUNMAP) != 0;
    match new_bytes < old_bytes && flags & libc::MREMAP_FIXED == 0 {
        true => unmapped("mremap", address.addr().saturating_add(new_bytes), old_bytes - new_bytes),
        // An old length of 0 makes a second mapping and leaves the first.
        false if moves => unmapped("mremap", address.addr(), old_bytes),
        false => {}
    }
    // SAFETY: the caller's call, passed on.
    let result = unsafe { libc::syscall(libc::SYS_mremap, address, old_bytes, new_bytes, flags, target) };
    mapped(result, new_bytes, is_known)
}

/// `madvise(2)`: some advice drops the pages at once or soon.
///
/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn madvise(address: *mut c_void, bytes: usize, advice: c_int) -> c_int {
    let drops = [libc::MADV_DONTNEED, libc::MADV_FREE, libc::MADV_REMOVE, MADV_DONTNEED_LOCKED, MADV_GUARD_INSTALL];
    if drops.contains(&advice) {
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
        unmapped("shmat", address.addr(), usize::MAX - address.addr());
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

/// The address of so many bytes that the program has mapped now, noted if the end of their pages will be told.
fn mapped(result: c_long, bytes: usize, is_told: bool) -> *mut c_void {
    let (address, end) = (result as usize, (result as usize).saturating_add(bytes));
    match result != -1 {
        true if is_told && !MAPPED.has(address, end) => MAPPED.add(address, end),
        // What is known to be there went unseen.
        true if !is_told => MAPPED.take(address, end),
        _ => {}
    }
    pointer(result)
}

/// The address that a system call returned; -1 is MAP_FAILED.
fn pointer(result: c_long) -> *mut c_void {
    core::ptr::with_exposed_provenance_mut(result as usize)
}

// linux/mman.h
const MREMAP_DONTUNMAP: c_int = 4;
const MADV_DONTNEED_LOCKED: c_int = 24;
const MADV_GUARD_INSTALL: c_int = 102;
