//! The instructions.
#![allow(unsafe_code)]

use core::arch::asm;
use core::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};

/// An integer of a width that the processor moves at once.
///
/// # Safety
/// The functions do what their lines say, on an aligned place of this type.
pub unsafe trait Word: Copy + Eq {
    /// Reads.
    ///
    /// # Safety
    /// `at` is aligned and readable as long as this runs.
    unsafe fn load(at: *const Self) -> Self;
    /// Writes.
    ///
    /// # Safety
    /// `at` is aligned and writable as long as this runs; so for all that follow.
    unsafe fn store(at: *mut Self, value: Self);
    /// Writes and returns what was there; orders everything.
    ///
    /// # Safety
    /// As [`Word::store`].
    unsafe fn exchange(at: *mut Self, value: Self) -> Self;
    /// Adds, wrapping, and returns what was there; orders everything.
    ///
    /// # Safety
    /// As [`Word::store`].
    unsafe fn exchange_add(at: *mut Self, value: Self) -> Self;
    /// Writes `new` if `old` is there; returns what was there and whether; orders everything.
    ///
    /// # Safety
    /// As [`Word::store`].
    unsafe fn compare_exchange(at: *mut Self, old: Self, new: Self) -> (Self, bool);
}

macro_rules! words {
    ($($type:ty, $class:ident, $name:literal, $a:tt, $pointer:literal;)*) => {$(
        // SAFETY: aligned moves of this width are single accesses, and `lock` makes the rest so (Intel SDM vol. 3
        // §9.1.1); `xchg` with memory locks by itself.
        unsafe impl Word for $type {
            #[inline(always)]
            unsafe fn load(at: *const Self) -> Self {
                let value;
                // SAFETY: the caller's promise; not `nomem`, so no access moves in front of it.
                unsafe {
                    asm!(
                        concat!("mov {value", $name, "}, ", $pointer, " ptr [{at}]"),
                        at = in(reg) at,
                        value = out($class) value,
                        options(nostack, preserves_flags)
                    );
                }
                value
            }

            #[inline(always)]
            unsafe fn store(at: *mut Self, value: Self) {
                // SAFETY: the caller's promise; not `nomem`, so no access moves behind it.
                unsafe {
                    asm!(
                        concat!("mov ", $pointer, " ptr [{at}], {value", $name, "}"),
                        at = in(reg) at,
                        value = in($class) value,
                        options(nostack, preserves_flags)
                    );
                }
            }

            #[inline(always)]
            unsafe fn exchange(at: *mut Self, mut value: Self) -> Self {
                // SAFETY: the caller's promise.
                unsafe {
                    asm!(
                        concat!("xchg ", $pointer, " ptr [{at}], {value", $name, "}"),
                        at = in(reg) at,
                        value = inout($class) value,
                        options(nostack, preserves_flags)
                    );
                }
                value
            }

            #[inline(always)]
            unsafe fn exchange_add(at: *mut Self, mut value: Self) -> Self {
                // SAFETY: the caller's promise.
                unsafe {
                    asm!(
                        concat!("lock xadd ", $pointer, " ptr [{at}], {value", $name, "}"),
                        at = in(reg) at,
                        value = inout($class) value,
                        options(nostack)
                    );
                }
                value
            }

            #[inline(always)]
            unsafe fn compare_exchange(at: *mut Self, old: Self, new: Self) -> (Self, bool) {
                let (found, done): (Self, u8);
                // SAFETY: the caller's promise.
                unsafe {
                    asm!(
                        concat!("lock cmpxchg ", $pointer, " ptr [{at}], {new", $name, "}"),
                        "sete {done}",
                        at = in(reg) at,
                        new = in($class) new,
                        done = lateout(reg_byte) done,
                        inlateout($a) old => found,
                        options(nostack)
                    );
                }
                (found, done != 0)
            }
        }
    )*};
}

words! {
    u8, reg_byte, "", "al", "byte";
    u32, reg, ":e", "eax", "dword";
    u64, reg, "", "rax", "qword";
    usize, reg, "", "rax", "qword";
    i64, reg, "", "rax", "qword";
}

/// As `core::sync::atomic::fence`.
#[inline(always)]
pub fn fence(order: Ordering) {
    match order {
        // A locked instruction on the own stack orders like `mfence` for ordinary memory and costs half of it.
        // SAFETY: the word at the stack pointer belongs to this thread and keeps its value.
        SeqCst => unsafe { asm!("lock or dword ptr [rsp], 0") },
        Acquire | Release | AcqRel => compiler_fence(order),
        _ => panic!("a fence is never relaxed"),
    }
}

/// As `core::sync::atomic::compiler_fence`.
#[inline(always)]
pub fn compiler_fence(order: Ordering) {
    assert!(order != Relaxed, "a fence is never relaxed");
    // SAFETY: nothing; the compiler must assume that it touches all memory.
    unsafe { asm!("", options(nostack, preserves_flags)) };
}
