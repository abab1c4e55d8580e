//! Integers.

use crate::raw::Place;
use core::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};

macro_rules! integers {
    ($($name:ident: $type:ty;)*) => {$(
        /// As its namesake in `core::sync::atomic`.
        #[repr(transparent)]
        pub struct $name {
            place: Place<$type>,
        }

        impl $name {
            /// Holds `value`.
            #[inline]
            pub const fn new(value: $type) -> $name {
                $name { place: Place::new(value) }
            }

            /// Where the value lies.
            #[inline]
            pub const fn as_ptr(&self) -> *mut $type {
                self.place.as_ptr()
            }

            /// The value; nobody else has it.
            #[inline]
            pub fn get_mut(&mut self) -> &mut $type {
                self.place.get_mut()
            }

            /// The value.
            #[inline]
            pub const fn into_inner(self) -> $type {
                self.place.into_inner()
            }

            /// Reads. Panics for `Release` and `AcqRel`.
            #[inline]
            pub fn load(&self, order: Ordering) -> $type {
                assert!(!matches!(order, Release | AcqRel), "a load never releases");
                self.place.load()
            }

            /// Writes. Panics for `Acquire` and `AcqRel`.
            #[inline]
            pub fn store(&self, value: $type, order: Ordering) {
                match order {
                    Relaxed | Release => self.place.store(value),
                    SeqCst => drop(self.swap(value, order)),
                    _ => panic!("a store never acquires"),
                }
            }

            /// Writes and returns what was there.
            #[inline]
            pub fn swap(&self, value: $type, _order: Ordering) -> $type {
                self.place.exchange(value)
            }

            /// Writes `new` if `old` is there: `Ok(old)`, else `Err` with what was there.
            #[inline]
            pub fn compare_exchange(
                &self,
                old: $type,
                new: $type,
                _success: Ordering,
                failure: Ordering,
            ) -> Result<$type, $type> {
                assert!(!matches!(failure, Release | AcqRel), "a load never releases");
                self.place.compare_exchange(old, new)
            }

            /// The same; never fails without reason here.
            #[inline]
            pub fn compare_exchange_weak(
                &self,
                old: $type,
                new: $type,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$type, $type> {
                self.compare_exchange(old, new, success, failure)
            }

            /// Adds, wrapping.
            #[inline]
            pub fn fetch_add(&self, value: $type, _order: Ordering) -> $type {
                self.place.exchange_add(value)
            }

            /// Subtracts, wrapping.
            #[inline]
            pub fn fetch_sub(&self, value: $type, order: Ordering) -> $type {
                self.fetch_add(value.wrapping_neg(), order)
            }

            /// Bitwise and.
            #[inline]
            pub fn fetch_and(&self, value: $type, order: Ordering) -> $type {
                self.change(order, |found| found & value)
            }

            /// Bitwise not-and.
            #[inline]
            pub fn fetch_nand(&self, value: $type, order: Ordering) -> $type {
                self.change(order, |found| !(found & value))
            }

            /// Bitwise or.
            #[inline]
            pub fn fetch_or(&self, value: $type, order: Ordering) -> $type {
                self.change(order, |found| found | value)
            }

            /// Bitwise exclusive or.
            #[inline]
            pub fn fetch_xor(&self, value: $type, order: Ordering) -> $type {
                self.change(order, |found| found ^ value)
            }

            /// The larger.
            #[inline]
            pub fn fetch_max(&self, value: $type, order: Ordering) -> $type {
                self.change(order, |found| found.max(value))
            }

            /// The smaller.
            #[inline]
            pub fn fetch_min(&self, value: $type, order: Ordering) -> $type {
                self.change(order, |found| found.min(value))
            }

            /// Writes what `change` makes of what is there, until it is still there.
            #[inline]
            pub fn fetch_update(
                &self,
                success: Ordering,
                failure: Ordering,
                mut change: impl FnMut($type) -> Option<$type>,
            ) -> Result<$type, $type> {
                let mut found = self.load(failure);
                while let Some(new) = change(found) {
                    match self.compare_exchange(found, new, success, failure) {
                        Ok(old) => return Ok(old),
                        Err(other) => found = other,
                    }
                }
                Err(found)
            }

            #[inline]
            fn change(&self, order: Ordering, new: impl Fn($type) -> $type) -> $type {
                let mut found = self.load(Relaxed);
                loop {
                    match self.compare_exchange(found, new(found), order, Acquire) {
                        Ok(old) => return old,
                        Err(other) => found = other,
                    }
                }
            }
        }

        impl Default for $name {
            fn default() -> $name {
                $name::new(0)
            }
        }

        impl From<$type> for $name {
            fn from(value: $type) -> $name {
                $name::new(value)
            }
        }

        impl core::fmt::Debug for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                self.load(Relaxed).fmt(f)
            }
        }
    )*};
}

integers! {
    AtomicU8: u8;
    AtomicU16: u16;
    AtomicU32: u32;
    AtomicU64: u64;
    AtomicUsize: usize;
    AtomicI64: i64;
}
