//! The functions that stand in for the C library's, by weak names, and what they call of it.
#![allow(unsafe_code)]

use crate::blocks;
use core::ffi::{c_int, c_void};
use opal_core::shareable;
use opal_core::sync::{AtomicUsize, Ordering};

unsafe extern "C" {
    // The C library's own, by the names that it keeps for those who replace the others.
    fn __libc_malloc(bytes: usize) -> *mut c_void;
    fn __libc_calloc(count: usize, bytes: usize) -> *mut c_void;
    fn __libc_realloc(at: *mut c_void, bytes: usize) -> *mut c_void;
    fn __libc_memalign(alignment: usize, bytes: usize) -> *mut c_void;
    fn __libc_free(at: *mut c_void);
    /// Which `malloc` is called in this program · `__malloc_usable_size` and `dlsym`, where the C library shows them, else null.
    static ompi_shheap_symbols: [usize; 3];
}

// A program's own functions win, and those of the C library where it is linked into the program.
macro_rules! weak_names {
    ($($name:literal),*) => {
        core::arch::global_asm!(
            $(
                concat!(".weak ", $name),
                concat!(".type ", $name, ",@function"),
                concat!(".set ", $name, ", ompi_shheap_", $name),
            )*
            ".weak __malloc_usable_size",
            ".weak dlsym",
            ".pushsection .data.rel.ro.ompi_shheap_symbols,\"aw\",@progbits",
            ".balign 8",
            ".globl ompi_shheap_symbols",
            ".hidden ompi_shheap_symbols",
            "ompi_shheap_symbols:",
            ".8byte malloc, __malloc_usable_size, dlsym",
            ".popsection",
        );
    };
}
weak_names!("aligned_alloc", "calloc", "free", "malloc", "malloc_usable_size", "memalign", "posix_memalign", "realloc");

#[used]
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = before_main;

extern "C" fn before_main() {
    let own = ompi_shheap_malloc as unsafe extern "C" fn(usize) -> *mut c_void;
    // SAFETY: the table above.
    if unsafe { ompi_shheap_symbols[0] } == own as usize {
        blocks::begin();
    }
}

/// `malloc(3)`.
///
/// # Safety
/// As the C library's; so for all that follow.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompi_shheap_malloc(bytes: usize) -> *mut c_void {
    match blocks::allocate(bytes, 1, false) {
        Some(at) => at.cast(),
        // SAFETY: the caller's call, passed on; so below.
        None => unsafe { __libc_malloc(bytes) },
    }
}

/// `calloc(3)`.
///
/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompi_shheap_calloc(count: usize, bytes: usize) -> *mut c_void {
    // What is longer than addresses are is the C library's to refuse.
    match count.checked_mul(bytes).and_then(|all| blocks::allocate(all, 1, true)) {
        Some(at) => at.cast(),
        // SAFETY: as above.
        None => unsafe { __libc_calloc(count, bytes) },
    }
}

/// `free(3)`. It leaves `errno` alone.
///
/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompi_shheap_free(at: *mut c_void) {
    if shareable::is_of_range(at.cast()) {
        // SAFETY: the caller's promise.
        return keeping_errno(|| unsafe { shareable::free_keeping(at.cast(), blocks::most_kept()) });
    }
    // SAFETY: as above.
    unsafe { __libc_free(at) };
}

/// `realloc(3)`: where it is, if it can be. A short block that becomes a long one moves to shareable memory.
///
/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompi_shheap_realloc(at: *mut c_void, bytes: usize) -> *mut c_void {
    if shareable::is_of_range(at.cast()) {
        // SAFETY: as above.
        return unsafe { resize(at, bytes) };
    }
    // SAFETY: as above, if it is not null.
    let have = if at.is_null() || !blocks::is_long(bytes) { None } else { unsafe { usable_size(at) } };
    let Some((have, longer)) =
        have.filter(|have| !blocks::is_long(*have)).and_then(|have| Some((have, blocks::allocate(bytes, 1, false)?)))
    else {
        // SAFETY: as above. Null is malloc.
        return if at.is_null() { unsafe { ompi_shheap_malloc(bytes) } } else { unsafe { __libc_realloc(at, bytes) } };
    };
    // SAFETY: `have` bytes are the block's, and there is room for them.
    unsafe { longer.copy_from_nonoverlapping(at.cast(), have.min(bytes)) };
    // SAFETY: as above.
    unsafe { __libc_free(at) };
    longer.cast()
}

/// Of a shareable block.
///
/// # Safety
/// As above.
unsafe fn resize(at: *mut c_void, bytes: usize) -> *mut c_void {
    if bytes == 0 {
        // As with the C library of GNU.
        // SAFETY: the caller's promise.
        unsafe { ompi_shheap_free(at) };
        return core::ptr::null_mut();
    }
    // What is longer than addresses are is the C library's to refuse, below.
    let whole = Some(bytes).filter(|bytes| *bytes <= isize::MAX as usize).map(blocks::whole_pages);
    // SAFETY: the caller's promise.
    let resized = |whole| keeping_errno(|| unsafe { shareable::resize(at.cast(), whole, blocks::most_kept()) });
    if whole.is_some_and(resized) {
        return at;
    }
    let Some(have) = shareable::length(at.cast()) else { return core::ptr::null_mut() };
    // SAFETY: no preconditions.
    let moved = unsafe { ompi_shheap_malloc(bytes) };
    if !moved.is_null() {
        // SAFETY: two blocks, of at least so many bytes.
        unsafe { moved.cast::<u8>().copy_from_nonoverlapping(at.cast(), have.min(bytes)) };
        // SAFETY: the caller's promise.
        unsafe { ompi_shheap_free(at) };
    }
    moved
}

/// `memalign(3)`.
///
/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompi_shheap_memalign(alignment: usize, bytes: usize) -> *mut c_void {
    match Some(alignment).filter(|it| it.is_power_of_two()).and_then(|it| blocks::allocate(bytes, it, false)) {
        Some(at) => at.cast(),
        // SAFETY: as above.
        None => unsafe { __libc_memalign(alignment, bytes) },
    }
}

/// `aligned_alloc(3)`, which is `memalign` in the C library of GNU.
///
/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompi_shheap_aligned_alloc(alignment: usize, bytes: usize) -> *mut c_void {
    // SAFETY: as above.
    unsafe { ompi_shheap_memalign(alignment, bytes) }
}

/// `posix_memalign(3)`.
///
/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompi_shheap_posix_memalign(to: *mut *mut c_void, alignment: usize, bytes: usize) -> c_int {
    if !alignment.is_power_of_two() || !alignment.is_multiple_of(size_of::<*mut c_void>()) {
        return libc::EINVAL;
    }
    // SAFETY: as above.
    let at = keeping_errno(|| unsafe { ompi_shheap_memalign(alignment, bytes) });
    if at.is_null() {
        return libc::ENOMEM;
    }
    // SAFETY: the caller's place for it.
    unsafe { to.write(at) };
    0
}

/// `malloc_usable_size(3)`.
///
/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompi_shheap_malloc_usable_size(at: *mut c_void) -> usize {
    if at.is_null() {
        return 0;
    }
    if shareable::is_of_range(at.cast()) {
        return shareable::length(at.cast()).unwrap_or(0);
    }
    // 0 would be read as no room at all, which is safe.
    // SAFETY: as above.
    unsafe { usable_size(at) }.unwrap_or(0)
}

/// What the C library says of a block of its own; `None` if it cannot be asked.
///
/// # Safety
/// It is one.
unsafe fn usable_size(at: *mut c_void) -> Option<usize> {
    type UsableSize = unsafe extern "C" fn(*mut c_void) -> usize;
    type Dlsym = unsafe extern "C" fn(*mut c_void, *const core::ffi::c_char) -> *mut c_void;
    static FOUND: AtomicUsize = AtomicUsize::new(0);
    // Relaxed: every thread finds the same.
    if FOUND.load(Ordering::Relaxed) == 0 {
        // SAFETY: the table above, which the linker has filled.
        let [_, shown, dlsym] = unsafe { ompi_shheap_symbols };
        let mut found = shown;
        if found == 0 && dlsym != 0 {
            // SAFETY: the C library's function.
            let dlsym: Dlsym = unsafe { core::mem::transmute(dlsym) };
            // SAFETY: a name that ends with NUL; the next one behind this library's.
            found = unsafe { dlsym(libc::RTLD_NEXT, c"malloc_usable_size".as_ptr()) }.addr();
        }
        FOUND.store(found, Ordering::Relaxed);
    }
    let found = FOUND.load(Ordering::Relaxed);
    if found == 0 {
        return None;
    }
    // SAFETY: the C library's function.
    let ask: UsableSize = unsafe { core::mem::transmute(found) };
    // SAFETY: the caller's promise.
    Some(unsafe { ask(at) })
}

fn keeping_errno<R>(act: impl FnOnce() -> R) -> R {
    // SAFETY: the thread's own.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: as above.
    let before = unsafe { *errno };
    let result = act();
    // SAFETY: as above.
    unsafe { *errno = before };
    result
}
