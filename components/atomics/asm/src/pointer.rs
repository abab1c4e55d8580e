//! A pointer.

use crate::raw::Place;
use core::sync::atomic::Ordering::{self, AcqRel, Relaxed, Release, SeqCst};

/// As its namesake in `core::sync::atomic`.
#[repr(transparent)]
pub struct AtomicPtr<T> {
    place: Place<*mut T>,
}

impl<T> AtomicPtr<T> {
    /// Holds `value`.
    #[inline]
    pub const fn new(value: *mut T) -> AtomicPtr<T> {
        AtomicPtr { place: Place::new(value) }
    }

    /// Where the value lies.
    #[inline]
    pub const fn as_ptr(&self) -> *mut *mut T {
        self.place.as_ptr()
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
        self.place.load()
    }

    /// Writes. Panics for `Acquire` and `AcqRel`.
    #[inline]
    pub fn store(&self, value: *mut T, order: Ordering) {
        match order {
            Relaxed | Release => self.place.store(value),
            SeqCst => _ = self.swap(value, order),
            _ => panic!("a store never acquires"),
        }
    }

    /// Writes and returns what was there.
    #[inline]
    pub fn swap(&self, value: *mut T, _order: Ordering) -> *mut T {
        self.place.exchange(value)
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
        self.place.compare_exchange(old, new)
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
