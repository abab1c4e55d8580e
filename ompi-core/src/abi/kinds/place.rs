//! Places that are written and arrays: what a pointer of the caller's becomes.

use super::kind::ParamKind;
use crate::error::{Class, Fault, Result};
use core::ffi::{c_char, c_int};

/// A place for a count: int*, or MPI_Count* in the `_c` twin. A value that does not fit int becomes MPI_UNDEFINED.
pub struct OutCount;

/// Where a count goes.
#[derive(Clone, Copy)]
pub enum CountPlace {
    /// int*.
    Int(OutPtr<c_int>),
    /// MPI_Count*.
    Large(OutPtr<i64>),
}

impl CountPlace {
    /// Reads what is there, for positions that go in and out.
    pub fn get(self) -> i64 {
        match self {
            CountPlace::Int(place) => i64::from(place.get()),
            CountPlace::Large(place) => place.get(),
        }
    }

    /// Writes it.
    pub fn set(self, value: i64) {
        match self {
            CountPlace::Int(place) => place.set(c_int::try_from(value).unwrap_or(crate::status::UNDEFINED)),
            CountPlace::Large(place) => place.set(value),
        }
    }
}

impl ParamKind for OutCount {
    type C = *mut c_int;
    type Large = *mut i64;
    type Value = CountPlace;

    unsafe fn check(raw: *mut c_int) -> Result<CountPlace> {
        OutPtr::new(raw).map(CountPlace::Int)
    }

    unsafe fn check_large(raw: *mut i64) -> Result<CountPlace> {
        OutPtr::new(raw).map(CountPlace::Large)
    }
}

/// An array of counts or displacements: int[], or MPI_Count[]/MPI_Aint[] in the `_c` twin. Its length is known only to
/// the row's body, which calls [`CountArray::of`].
pub struct ArrayOfCounts;

/// The array before its length is known.
#[derive(Clone, Copy)]
pub enum CountArray {
    /// int[].
    Int(*const c_int),
    /// MPI_Count[] or MPI_Aint[].
    Large(*const i64),
}

impl CountArray {
    /// The first `length` elements; null is an error unless `length` is 0.
    ///
    /// # Safety
    /// The array has that many elements.
    pub unsafe fn of(self, length: usize, argument: &'static str) -> Result<crate::data::Counts<'static>> {
        let null = match self {
            CountArray::Int(at) => at.is_null(),
            CountArray::Large(at) => at.is_null(),
        };
        if null && length > 0 {
            return Err(Fault::new(Class::Arg).argument(argument).because("the array is a null pointer"));
        }
        Ok(match self {
            _ if length == 0 => crate::data::Counts::Int(&[]),
            // SAFETY: not null; the length is the caller's promise.
            CountArray::Int(at) => crate::data::Counts::Int(unsafe { core::slice::from_raw_parts(at, length) }),
            // SAFETY: not null; the length is the caller's promise.
            CountArray::Large(at) => crate::data::Counts::Large(unsafe { core::slice::from_raw_parts(at, length) }),
        })
    }
}

impl ParamKind for ArrayOfCounts {
    type C = *const c_int;
    type Large = *const i64;
    type Value = CountArray;

    #[inline(always)]
    unsafe fn check(raw: *const c_int) -> Result<CountArray> {
        Ok(CountArray::Int(raw))
    }

    #[inline(always)]
    unsafe fn check_large(raw: *const i64) -> Result<CountArray> {
        Ok(CountArray::Large(raw))
    }
}

/// A place of the caller's for one value; not null.
#[derive(Debug)]
pub struct OutPtr<T>(*mut T);

impl<T> Clone for OutPtr<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for OutPtr<T> {}

impl<T: Copy> OutPtr<T> {
    /// Refuses null.
    #[inline(always)]
    pub fn new(raw: *mut T) -> Result<OutPtr<T>> {
        match raw.is_null() {
            false => Ok(OutPtr(raw)),
            true => Err(Fault::new(Class::Arg).because("it is a null pointer, but the result must be stored there")),
        }
    }

    /// Writes the result.
    #[inline(always)]
    pub fn set(self, value: T) {
        // SAFETY: not null by `new`, the caller's to write by the standard.
        unsafe { self.0.write(value) }
    }

    /// Reads what is there, for arguments that go in and out.
    #[inline(always)]
    pub fn get(self) -> T {
        // SAFETY: as `set`.
        unsafe { self.0.read() }
    }

    /// The pointer itself, for arrays and strings.
    pub fn as_ptr(self) -> *mut T {
        self.0
    }
}

/// The first `length` elements of an array of the caller's; null is an error unless `length` is 0.
///
/// # Safety
/// The array has that many elements.
pub unsafe fn array<T>(at: *const T, length: usize, argument: &'static str) -> Result<&'static [T]> {
    if length == 0 {
        return Ok(&[]);
    }
    if at.is_null() {
        return Err(Fault::new(Class::Arg).argument(argument).because("the array is a null pointer"));
    }
    // SAFETY: not null; the length is the caller's promise.
    Ok(unsafe { core::slice::from_raw_parts(at, length) })
}

/// As [`array()`], to be written. Nothing of the user's runs while the slice lives.
///
/// # Safety
/// The array has that many elements, and nobody else looks at them.
#[inline(always)]
pub unsafe fn array_mut<'a, T>(at: *mut T, length: usize, argument: &'static str) -> Result<&'a mut [T]> {
    if length == 0 {
        return Ok(&mut []);
    }
    if at.is_null() {
        return Err(Fault::new(Class::Arg).argument(argument).because("the array is a null pointer"));
    }
    // SAFETY: not null; the length is the caller's promise.
    Ok(unsafe { core::slice::from_raw_parts_mut(at, length) })
}

/// Writes as much of a text as there is room for, its terminating NUL, and its length.
///
/// # Safety
/// `at` has room for `room` characters, which is not 0.
pub unsafe fn give_text(text: &str, at: OutPtr<c_char>, room: usize, length: Option<OutPtr<c_int>>) {
    let bytes = text.len().min(room - 1);
    // SAFETY: at most room - 1 bytes.
    unsafe { core::ptr::copy_nonoverlapping(text.as_ptr(), at.as_ptr().cast(), bytes) };
    // SAFETY: the last of at most `room` characters.
    unsafe { at.as_ptr().wrapping_add(bytes).write(0) };
    if let Some(length) = length {
        length.set(bytes as c_int);
    }
}
