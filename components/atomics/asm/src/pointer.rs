//! A pointer. Not a number in disguise: pointers go through the same instructions as pointers, so that the compiler
//! keeps knowing what they may point to.
#![allow(unsafe_code)] // hands the place to assembly

use core::arch::asm;
use core::cell::UnsafeCell;
use core::sync::atomic::Ordering::{self, AcqRel, Relaxed, Release, SeqCst};

/// As its namesake in `core::sync::atomic`.
#[repr(C, align(8))]
pub struct AtomicPtr<T> {
    place: UnsafeCell<*mut T>,
}

// SAFETY: the pointer alone is shared; what it points to is its user's affair, as in `core`.
unsafe impl<T> Send for AtomicPtr<T> {}
// SAFETY: every access through a shared reference is one atomic instruction.
unsafe impl<T> Sync for AtomicPtr<T> {}

impl<T> AtomicPtr<T> {
    /// Holds `value`.
    #[inline]
    pub const fn new(value: *mut T) -> AtomicPtr<T> {
        AtomicPtr { place: UnsafeCell::new(value) }
    }

    /// Where the value lies.
    #[inline]
    pub const fn as_ptr(&self) -> *mut *mut T {
        self.place.get()
    }

    /// The value; nobody else has it.
    #[inline]
    pub fn get_mut(&mut self) -> &mut *mut T {
        self.place.get_mut()
    }

    /// The value.
    #[inline]
    pub const fn into_inner(self) -> *mut T {
        self.place.into_inner()
    }

    /// Reads. Panics for `Release` and `AcqRel`.
    #[inline]
    pub fn load(&self, order: Ordering) -> *mut T {
        assert!(!matches!(order, Release | AcqRel), "a load never releases");
        let value;
        // SAFETY: a reference is aligned and readable.
        unsafe {
            asm!(
                "mov {value}, [{at}]",
                at = in(reg) self.as_ptr(),
                value = out(reg) value,
                options(nostack, preserves_flags)
            );
        }
        value
    }

    /// Writes. Panics for `Acquire` and `AcqRel`.
    #[inline]
    pub fn store(&self, value: *mut T, order: Ordering) {
        match order {
            Relaxed | Release => {
                // SAFETY: inside an UnsafeCell, aligned.
                unsafe {
                    asm!(
                        "mov [{at}], {value}",
                        at = in(reg) self.as_ptr(),
                        value = in(reg) value,
                        options(nostack, preserves_flags)
                    );
                }
            }
            SeqCst => _ = self.swap(value, order),
            _ => panic!("a store never acquires"),
        }
    }

    /// Writes and returns what was there.
    #[inline]
    pub fn swap(&self, mut value: *mut T, _order: Ordering) -> *mut T {
        // SAFETY: inside an UnsafeCell, aligned.
        unsafe {
            asm!(
                "xchg [{at}], {value}",
                at = in(reg) self.as_ptr(),
                value = inout(reg) value,
                options(nostack, preserves_flags)
            );
        }
        value
    }

    /// Writes `new` if `old` is there: `Ok(old)`, else `Err` with what was there.
    #[inline]
    pub fn compare_exchange(
        &self,
        old: *mut T,
        new: *mut T,
        _success: Ordering,
        failure: Ordering,
    ) -> Result<*mut T, *mut T> {
        assert!(!matches!(failure, Release | AcqRel), "a load never releases");
        let (found, done): (*mut T, u8);
        // SAFETY: inside an UnsafeCell, aligned.
        unsafe {
            asm!(
                "lock cmpxchg [{at}], {new}",
                "sete {done}",
                at = in(reg) self.as_ptr(),
                new = in(reg) new,
                done = lateout(reg_byte) done,
                inlateout("rax") old => found,
                options(nostack)
            );
        }
        if done != 0 { Ok(found) } else { Err(found) }
    }

    /// The same; never fails without reason here.
    #[inline]
    pub fn compare_exchange_weak(
        &self,
        old: *mut T,
        new: *mut T,
        success: Ordering,
        failure: Ordering,
    ) -> Result<*mut T, *mut T> {
        self.compare_exchange(old, new, success, failure)
    }
}

impl<T> Default for AtomicPtr<T> {
    fn default() -> AtomicPtr<T> {
        AtomicPtr::new(core::ptr::null_mut())
    }
}

impl<T> core::fmt::Debug for AtomicPtr<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.load(Relaxed).fmt(f)
    }
}
