//! Buffers: memory with a number of elements of one datatype.
#![allow(unsafe_code)] // promises about memory

use super::{DatatypeRef, Equivalence};
use alloc::vec::Vec;

/// What can be sent: one value, a slice, an array, a vector, or a [`View`](super::View).
///
/// # Safety
/// While it is borrowed, [`count`](Self::count) elements of the datatype from [`pointer`](Self::pointer) on are
/// initialised memory that may be read; all three are the same until it is changed through a mutable borrow.
pub unsafe trait Buffer {
    /// Where the first element is addressed.
    fn pointer(&self) -> *const u8;

    /// Number of elements.
    fn count(&self) -> usize;

    /// What they are.
    fn as_datatype(&self) -> DatatypeRef<'_>;
}

/// What can be received into.
///
/// # Safety
/// While it is borrowed mutably, the elements of [`Buffer`] may be overwritten with any bytes.
pub unsafe trait BufferMut: Buffer {
    /// Where the first element is addressed.
    fn pointer_mut(&mut self) -> *mut u8;
}

// SAFETY: `Equivalence` says so of one value.
unsafe impl<T: Equivalence> Buffer for T {
    #[inline(always)]
    fn pointer(&self) -> *const u8 {
        core::ptr::from_ref(self).cast()
    }

    #[inline(always)]
    fn count(&self) -> usize {
        T::COUNT
    }

    #[inline(always)]
    fn as_datatype(&self) -> DatatypeRef<'_> {
        T::equivalent_datatype()
    }
}

// SAFETY: `Equivalence` lets any bytes be a value.
unsafe impl<T: Equivalence> BufferMut for T {
    #[inline(always)]
    fn pointer_mut(&mut self) -> *mut u8 {
        core::ptr::from_mut(self).cast()
    }
}

// SAFETY: a slice is its values, one after the other.
unsafe impl<T: Equivalence> Buffer for [T] {
    #[inline(always)]
    fn pointer(&self) -> *const u8 {
        self.as_ptr().cast()
    }

    #[inline(always)]
    fn count(&self) -> usize {
        self.len() * T::COUNT
    }

    #[inline(always)]
    fn as_datatype(&self) -> DatatypeRef<'_> {
        T::equivalent_datatype()
    }
}

// SAFETY: as above.
unsafe impl<T: Equivalence> BufferMut for [T] {
    #[inline(always)]
    fn pointer_mut(&mut self) -> *mut u8 {
        self.as_mut_ptr().cast()
    }
}

// SAFETY: as a slice: of its length, not of its capacity.
unsafe impl<T: Equivalence> Buffer for Vec<T> {
    #[inline(always)]
    fn pointer(&self) -> *const u8 {
        self.as_ptr().cast()
    }

    #[inline(always)]
    fn count(&self) -> usize {
        self.len() * T::COUNT
    }

    #[inline(always)]
    fn as_datatype(&self) -> DatatypeRef<'_> {
        T::equivalent_datatype()
    }
}

// SAFETY: as above.
unsafe impl<T: Equivalence> BufferMut for Vec<T> {
    #[inline(always)]
    fn pointer_mut(&mut self) -> *mut u8 {
        self.as_mut_ptr().cast()
    }
}
