//! The symbols that stand before the C library's.
#![allow(unsafe_code)]

use crate::port::{self, Request};
use core::ffi::{CStr, c_char, c_int, c_ulong, c_void};
use core::sync::atomic::{AtomicI32, AtomicUsize, Ordering};

// C declares `open` and `ioctl` with `...`; on x86-64 a third argument of that kind travels like a declared one (System V
// ABI 3.5.7), and one that is not there is a register's value that nobody looks at.
type Open = unsafe extern "C" fn(*const c_char, c_int, c_int) -> c_int;
type OpenAt = unsafe extern "C" fn(c_int, *const c_char, c_int, c_int) -> c_int;
type Ioctl = unsafe extern "C" fn(c_int, c_ulong, *mut c_void) -> c_int;
type Close = unsafe extern "C" fn(c_int) -> c_int;

/// A function of the C library, looked up when it is first called.
struct Next {
    name: &'static CStr,
    address: AtomicUsize,
}

impl Next {
    const fn new(name: &'static CStr) -> Next {
        Next { name, address: AtomicUsize::new(0) }
    }

    /// Its address. Ends the process if there is none: nothing would work then.
    fn get(&self) -> usize {
        match self.address.load(Ordering::Relaxed) {
            0 => {
                // SAFETY: the name ends with a zero.
                let found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) } as usize;
                assert!(found != 0, "tuc shim: the C library has no {:?}", self.name);
                self.address.store(found, Ordering::Relaxed);
                found
            }
            known => known,
        }
    }

    fn open(&self) -> Open {
        // SAFETY: the names that this is called for have this type.
        unsafe { core::mem::transmute::<usize, Open>(self.get()) }
    }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn open(path: *const c_char, flags: c_int, mode: c_int) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { opened(&OPEN, path, flags, mode) }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn open64(path: *const c_char, flags: c_int, mode: c_int) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { opened(&OPEN64, path, flags, mode) }
}

/// # Safety
/// As the C library's: what `open` becomes where flags are checked.
#[unsafe(no_mangle)]
unsafe extern "C" fn __open_2(path: *const c_char, flags: c_int) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { opened(&OPEN_2, path, flags, 0) }
}

/// # Safety
/// As the C library's: what `open64` becomes where flags are checked.
#[unsafe(no_mangle)]
unsafe extern "C" fn __open64_2(path: *const c_char, flags: c_int) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { opened(&OPEN64_2, path, flags, 0) }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn openat64(folder: c_int, path: *const c_char, flags: c_int, mode: c_int) -> c_int {
    // SAFETY: the caller's promise.
    match unsafe { device(path) } {
        Some(descriptor) => descriptor,
        None => {
            // SAFETY: the name has this type.
            let next = unsafe { core::mem::transmute::<usize, OpenAt>(OPENAT64.get()) };
            // SAFETY: the caller's promise.
            unsafe { next(folder, path, flags, mode) }
        }
    }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn ioctl(descriptor: c_int, number: c_ulong, argument: *mut c_void) -> c_int {
    let ours = descriptor >= 0 && descriptor == DESCRIPTOR.load(Ordering::Relaxed);
    let (Some(port), true) = (port::plugged(), ours) else {
        // SAFETY: the name has this type.
        let next = unsafe { core::mem::transmute::<usize, Ioctl>(IOCTL.get()) };
        // SAFETY: the caller's promise.
        return unsafe { next(descriptor, number, argument) };
    };
    match Request::of(number) {
        None => {
            refuse(libc::ENOTTY);
            return -1;
        }
        Some(request @ Request::Nothing) => port.serve(request, &mut 0),
        // SAFETY: the other requests point to a byte, linux/ppdev.h.
        Some(request) => port.serve(request, unsafe { &mut *argument.cast::<u8>() }),
    }
    0
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn close(descriptor: c_int) -> c_int {
    // The number may be another file's from now on.
    let _ = DESCRIPTOR.compare_exchange(descriptor, -1, Ordering::Relaxed, Ordering::Relaxed);
    // SAFETY: the name has this type.
    let next = unsafe { core::mem::transmute::<usize, Close>(CLOSE.get()) };
    // SAFETY: the caller's promise.
    unsafe { next(descriptor) }
}

/// # Safety
/// `path` is a C string or null.
unsafe fn opened(next: &Next, path: *const c_char, flags: c_int, mode: c_int) -> c_int {
    // SAFETY: the caller's promise.
    match unsafe { device(path) } {
        Some(descriptor) => descriptor,
        // SAFETY: the caller's promise.
        None => unsafe { next.open()(path, flags, mode) },
    }
}

/// The descriptor of the cable if the path is that of a node's device, -1 if that cannot be; `None` for other paths.
///
/// # Safety
/// `path` is a C string or null.
unsafe fn device(path: *const c_char) -> Option<c_int> {
    if path.is_null() {
        return None;
    }
    // SAFETY: a C string, by the caller's promise.
    let node = port::node_of(unsafe { CStr::from_ptr(path) }.to_bytes())?;
    let cable = port::plug(node).and_then(|cable| std::ffi::CString::new(cable).map_err(|why| why.to_string()));
    let cable = match cable {
        Ok(cable) => cable,
        Err(why) => {
            eprintln!("tuc shim: {why}");
            refuse(libc::ENODEV);
            return Some(-1);
        }
    };
    // SAFETY: a C string; nothing is created.
    let descriptor = unsafe { OPEN64.open()(cable.as_ptr(), libc::O_RDWR | libc::O_CLOEXEC, 0) };
    DESCRIPTOR.store(descriptor, Ordering::Relaxed);
    Some(descriptor)
}

fn refuse(error: c_int) {
    // SAFETY: the address of this thread's errno.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: as above.
    unsafe { *errno = error };
}

static DESCRIPTOR: AtomicI32 = AtomicI32::new(-1);
static OPEN: Next = Next::new(c"open");
static OPEN64: Next = Next::new(c"open64");
static OPEN_2: Next = Next::new(c"__open_2");
static OPEN64_2: Next = Next::new(c"__open64_2");
static OPENAT64: Next = Next::new(c"openat64");
static IOCTL: Next = Next::new(c"ioctl");
static CLOSE: Next = Next::new(c"close");
