//! The instructions.
#![allow(unsafe_code)]

use core::arch::asm;
use core::cell::UnsafeCell;
use core::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};

/// A word that threads share: aligned, and touched by single instructions only.
#[repr(transparent)]
pub struct Place<T> {
    cell: UnsafeCell<T>,
}

// SAFETY: a word alone is shared; what a pointer points to is its user's affair, as in `core`.
unsafe impl<T> Send for Place<T> {}
// SAFETY: every access through a shared reference is one atomic instruction.
unsafe impl<T> Sync for Place<T> {}

impl<T: Copy> Place<T> {
    /// Holds `value`.
    #[inline]
    pub const fn new(value: T) -> Place<T> {
        Place { cell: UnsafeCell::new(value) }
    }

    /// Where it lies.
    #[inline]
    pub const fn as_ptr(&self) -> *mut T {
        self.cell.get()
    }

    /// The value; nobody else has it.
    #[inline]
    pub fn get_mut(&mut self) -> &mut T {
        self.cell.get_mut()
    }

    /// The value.
    #[inline]
    pub const fn into_inner(self) -> T {
        self.cell.into_inner()
    }
}

// Aligned moves of these widths are single accesses, and `lock` makes the rest so (Intel SDM vol. 3 §9.1.1); `xchg`
// with memory locks by itself.
macro_rules! words {
    ($([$($generic:ident)?] $type:ty, $class:ident, $name:literal, $a:tt, $pointer:literal;)*) => {$(
        impl$(<$generic>)? Place<$type> {
            /// Reads.
            #[inline(always)]
            pub fn load(&self) -> $type {
                let value;
                // SAFETY: a reference is aligned and readable; not `nomem`, so no access moves in front of it.
                unsafe {
                    asm!(
                        concat!("mov {value", $name, "}, ", $pointer, " ptr [{at}]"),
                        at = in(reg) self.as_ptr(),
                        value = out($class) value,
                        options(nostack, preserves_flags)
                    );
                }
                value
            }

            /// Writes.
            #[inline(always)]
            pub fn store(&self, value: $type) {
                // SAFETY: inside an UnsafeCell, aligned; not `nomem`, so no access moves behind it.
                unsafe {
                    asm!(
                        concat!("mov ", $pointer, " ptr [{at}], {value", $name, "}"),
                        at = in(reg) self.as_ptr(),
                        value = in($class) value,
                        options(nostack, preserves_flags)
                    );
                }
            }

            /// Writes and returns what was there; orders everything.
            #[inline(always)]
            pub fn exchange(&self, mut value: $type) -> $type {
                // SAFETY: inside an UnsafeCell, aligned.
                unsafe {
                    asm!(
                        concat!("xchg ", $pointer, " ptr [{at}], {value", $name, "}"),
                        at = in(reg) self.as_ptr(),
                        value = inout($class) value,
                        options(nostack, preserves_flags)
                    );
                }
                value
            }

            /// Writes `new` if `old` is there: `Ok(old)`, else `Err` with what was there; orders everything.
            #[inline(always)]
            pub fn compare_exchange(&self, old: $type, new: $type) -> Result<$type, $type> {
                let (found, done): ($type, u8);
                // SAFETY: inside an UnsafeCell, aligned.
                unsafe {
                    asm!(
                        concat!("lock cmpxchg ", $pointer, " ptr [{at}], {new", $name, "}"),
                        "sete {done}",
                        at = in(reg) self.as_ptr(),
                        new = in($class) new,
                        done = lateout(reg_byte) done,
                        inlateout($a) old => found,
                        options(nostack)
                    );
                }
                if done != 0 { Ok(found) } else { Err(found) }
            }
        }
    )*};
}

words! {
    [] u8, reg_byte, "", "al", "byte";
    [] u16, reg, ":x", "ax", "word";
    [] u32, reg, ":e", "eax", "dword";
    [] u64, reg, "", "rax", "qword";
    [] usize, reg, "", "rax", "qword";
    [] i64, reg, "", "rax", "qword";
    // Not a number in disguise: the compiler keeps knowing what a pointer may point to.
    [T] *mut T, reg, "", "rax", "qword";
}

macro_rules! sums {
    ($($type:ty, $class:ident, $name:literal, $pointer:literal;)*) => {$(
        impl Place<$type> {
            /// Adds, wrapping, and returns what was there; orders everything.
            #[inline(always)]
            pub fn exchange_add(&self, mut value: $type) -> $type {
                // SAFETY: inside an UnsafeCell, aligned.
                unsafe {
                    asm!(
                        concat!("lock xadd ", $pointer, " ptr [{at}], {value", $name, "}"),
                        at = in(reg) self.as_ptr(),
                        value = inout($class) value,
                        options(nostack)
                    );
                }
                value
            }
        }
    )*};
}

sums! {
    u8, reg_byte, "", "byte";
    u16, reg, ":x", "word";
    u32, reg, ":e", "dword";
    u64, reg, "", "qword";
    usize, reg, "", "qword";
    i64, reg, "", "qword";
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
