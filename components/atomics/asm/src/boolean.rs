//! A flag: a byte that is 0 or 1.

use crate::integer::AtomicU8;
use core::sync::atomic::Ordering;

/// As its namesake in `core::sync::atomic`.
#[repr(transparent)]
#[derive(Default)]
pub struct AtomicBool {
    byte: AtomicU8,
}

impl AtomicBool {
    /// Holds `value`.
    #[inline]
    pub const fn new(value: bool) -> AtomicBool {
        AtomicBool { byte: AtomicU8::new(value as u8) }
    }

    /// The value.
    #[inline]
    pub const fn into_inner(self) -> bool {
        self.byte.into_inner() != 0
    }

    /// Reads. Panics for `Release` and `AcqRel`.
    #[inline]
    pub fn load(&self, order: Ordering) -> bool {
        self.byte.load(order) != 0
    }

    /// Writes. Panics for `Acquire` and `AcqRel`.
    #[inline]
    pub fn store(&self, value: bool, order: Ordering) {
        self.byte.store(u8::from(value), order);
    }

    /// Writes and returns what was there.
    #[inline]
    pub fn swap(&self, value: bool, order: Ordering) -> bool {
        self.byte.swap(u8::from(value), order) != 0
    }

    /// Writes `new` if `old` is there: `Ok(old)`, else `Err` with what was there.
    #[inline]
    pub fn compare_exchange(&self, old: bool, new: bool, success: Ordering, failure: Ordering) -> Result<bool, bool> {
        match self.byte.compare_exchange(u8::from(old), u8::from(new), success, failure) {
            Ok(found) => Ok(found != 0),
            Err(found) => Err(found != 0),
        }
    }

    /// The same; never fails without reason here.
    #[inline]
    pub fn compare_exchange_weak(
        &self,
        old: bool,
        new: bool,
        success: Ordering,
        failure: Ordering,
    ) -> Result<bool, bool> {
        self.compare_exchange(old, new, success, failure)
    }

    /// Logical and.
    #[inline]
    pub fn fetch_and(&self, value: bool, order: Ordering) -> bool {
        self.byte.fetch_and(u8::from(value), order) != 0
    }

    /// Logical or.
    #[inline]
    pub fn fetch_or(&self, value: bool, order: Ordering) -> bool {
        self.byte.fetch_or(u8::from(value), order) != 0
    }

    /// Logical exclusive or.
    #[inline]
    pub fn fetch_xor(&self, value: bool, order: Ordering) -> bool {
        self.byte.fetch_xor(u8::from(value), order) != 0
    }

    /// Logical not.
    #[inline]
    pub fn fetch_not(&self, order: Ordering) -> bool {
        self.fetch_xor(true, order)
    }
}

impl From<bool> for AtomicBool {
    fn from(value: bool) -> AtomicBool {
        AtomicBool::new(value)
    }
}

impl core::fmt::Debug for AtomicBool {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.load(Ordering::Relaxed).fmt(f)
    }
}
