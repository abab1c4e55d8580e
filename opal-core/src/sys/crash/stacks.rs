//! The stacks of a handler: one that the system enters it on, and one for its work.
//!
//! The first may be small: a thread of Rust has 8 KiB, of which the system's frame takes up to half, and programs take SIGSTKSZ. So
//! the report is made on the second, which all threads share.

use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

/// Makes both stacks, the first for this thread. One that the program has set stays in use.
pub fn prepare() {
    if WORK.load(Ordering::Acquire).is_null() {
        // A second call at the same time would only leave one of the two unused. Release pairs with the Acquire of `call`.
        WORK.store(new_stack(), Ordering::Release);
    }
    // SAFETY: all zeros is a valid stack_t.
    let mut stack: libc::stack_t = unsafe { core::mem::zeroed() };
    // SAFETY: asks only; `stack` is writable.
    if unsafe { libc::sigaltstack(ptr::null(), &mut stack) } != 0 || stack.ss_flags & libc::SS_DISABLE == 0 {
        return;
    }
    let room = new_stack();
    if !room.is_null() {
        stack = libc::stack_t { ss_sp: room, ss_flags: 0, ss_size: STACK_BYTES };
        // SAFETY: memory of that length, which is never given back.
        unsafe { libc::sigaltstack(&stack, ptr::null_mut()) };
    }
}

/// Calls `work` on the stack for it, one thread at a time. Not for a thread that is in there: its work failed itself.
pub fn call<T>(work: extern "C" fn(&T), argument: &T) {
    let room = WORK.load(Ordering::Acquire);
    if room.is_null() {
        return work(argument);
    }
    let me = crate::sys::thread_id();
    // Acquire and Release: the stack passes from thread to thread.
    while let Err(user) = USER.compare_exchange(0, me, Ordering::Acquire, Ordering::Relaxed) {
        if user == me {
            return;
        }
        crate::sys::yield_now();
    }
    let top = room.wrapping_byte_add(STACK_BYTES);
    // SAFETY: the stack is this thread's by the exchange, and aligned as a page is; `work` is a function of one reference, which
    // outlives the call.
    unsafe { enter(top, work as *const c_void, ptr::from_ref(argument).cast()) };
    USER.store(0, Ordering::Release);
}

/// Calls a function on another stack.
///
/// # Safety
/// `top` is the end of memory that nobody else uses, a multiple of 16; `work` is an `extern "C"` function of one pointer that does not
/// unwind, and `argument` is valid for it.
unsafe fn enter(top: *mut c_void, work: *const c_void, argument: *const c_void) {
    // SAFETY: System V ABI for AMD64 §3.2: the callee keeps r12, which keeps this stack's pointer, and all else that it may change is
    // named.
    unsafe {
        core::arch::asm!(
            "mov r12, rsp",
            "mov rsp, {top}",
            "call {work}",
            "mov rsp, r12",
            top = in(reg) top,
            work = in(reg) work,
            in("rdi") argument,
            out("r12") _,
            clobber_abi("C"),
        );
    }
}

/// `STACK_BYTES` above a page that cannot be touched, or null.
fn new_stack() -> *mut c_void {
    let (guard, flags) = (crate::sys::page_size(), libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE);
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping at an address of the kernel's choice.
    let room = unsafe { libc::mmap(ptr::null_mut(), guard + STACK_BYTES, access, flags, -1, 0) };
    if room == libc::MAP_FAILED {
        return ptr::null_mut();
    }
    // SAFETY: the first page of the new mapping. Where it is refused the stack merely has no guard.
    unsafe { libc::mprotect(room, guard, libc::PROT_NONE) };
    room.wrapping_byte_add(guard)
}

static WORK: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
/// The thread that is on it, or 0.
static USER: AtomicU32 = AtomicU32::new(0);
const STACK_BYTES: usize = 64 << 10;
