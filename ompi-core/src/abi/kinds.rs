//! The kinds of parameters: what C passes, how it is checked, what a row's body sees.
//!
//! A kind checks what it can know alone; what depends on a second argument (a rank and its communicator, a buffer and
//! its count) is checked by the small functions at the end of this file, called first thing in a row's body.

use super::Scope;
use crate::comm::Communicator;
use crate::data::Data;
use crate::datatype::{self, Datatype as Type};
use crate::error::{Class, Fault, Result};
use crate::op::Op as Operation;
use crate::status::{ANY_SOURCE, ANY_TAG, PROC_NULL, Status};
use alloc::format;
use alloc::sync::Arc;
use core::ffi::{c_int, c_void};
use core::marker::PhantomData;

/// A kind of parameter.
pub trait Kind {
    /// What C passes.
    type C: Copy;
    /// What C passes to the `_c` twin.
    type Large: Copy;
    /// What the row's body sees.
    type Value;

    /// Checks the argument of the plain function.
    ///
    /// # Safety
    /// Pointers are what the standard says of this kind: null where a check below refuses null, or good for the access.
    unsafe fn check(raw: Self::C) -> Result<Self::Value>;

    /// Checks the argument of the `_c` twin.
    ///
    /// # Safety
    /// As `check`.
    unsafe fn check_large(raw: Self::Large) -> Result<Self::Value>;

    /// The object whose error handler is in force, if this argument names one. `raw` points to the C argument.
    fn scope(_raw: *const ()) -> Scope {
        Scope::None
    }
}

/// A kind whose C type is the same in both twins.
macro_rules! same {
    ($(#[$doc:meta])* $kind:ident $(<$t:ident>)?, $c:ty => $value:ty, |$raw:ident| $check:expr $(, scope $scope:expr)?) => {
        $(#[$doc])*
        pub struct $kind $(<$t>(PhantomData<$t>))?;

        impl $(<$t: Copy + 'static>)? Kind for $kind $(<$t>)? {
            type C = $c;
            type Large = $c;
            type Value = $value;
            #[inline(always)]
            unsafe fn check($raw: $c) -> Result<$value> {
                $check
            }
            #[inline(always)]
            unsafe fn check_large($raw: $c) -> Result<$value> {
                $check
            }
            $(
                fn scope(raw: *const ()) -> Scope {
                    // SAFETY: the row macro passes a pointer to its argument, which has this type.
                    $scope(unsafe { raw.cast::<$c>().read() })
                }
            )?
        }
    };
}

same! {
    /// Passed on as it is: the row's body knows what it means.
    Raw<T>, T => T, |raw| Ok(raw)
}

same! {
    /// A buffer that is read. Null is checked with its count by [`data`].
    ConstBuffer, *const c_void => *mut u8, |raw| Ok(raw.cast_mut().cast())
}

same! {
    /// A buffer that is written. Null is checked with its count by [`data`].
    Buffer, *mut c_void => *mut u8, |raw| Ok(raw.cast())
}

same! {
    /// A place for one result.
    Out<T>, *mut T => Place<T>, |raw| Place::new(raw)
}

same! {
    /// MPI_Status*, or MPI_STATUS_IGNORE.
    StatusOut, *mut Status => Option<&'static mut Status>, |raw| {
        // SAFETY: null is MPI_STATUS_IGNORE, anything else a status of the caller's.
        Ok(unsafe { raw.as_mut() })
    }
}

same! {
    /// A datatype, committed or not.
    Datatype, usize => &'static Type, |raw| datatype::borrow(raw).ok_or_else(|| bad_handle(Class::Type, "datatype", raw, 0x200))
}

same! {
    /// A committed datatype.
    Committed, usize => &'static Type, |raw| {
        let datatype = datatype::borrow(raw).ok_or_else(|| bad_handle(Class::Type, "datatype", raw, 0x200))?;
        match datatype.is_committed() {
            true => Ok(datatype),
            false => Err(Fault::new(Class::Type).because("the datatype is not committed; call MPI_Type_commit first")),
        }
    }
}

same! {
    /// A communicator.
    Comm, usize => &'static Communicator,
    |raw| crate::comm::borrow(raw).ok_or_else(|| bad_handle(Class::Comm, "communicator", raw, 0x100)),
    scope Scope::Comm
}

same! {
    /// An operation.
    Op, usize => Operation, |raw| crate::op::get(raw).ok_or_else(|| bad_handle(Class::Op, "operation", raw, 0x20))
}

same! {
    /// A group.
    Group, usize => Arc<crate::group::Group>, |raw| crate::group::get(raw).ok_or_else(|| bad_handle(Class::Group, "group", raw, 0x108))
}

same! {
    /// A rank of a destination; checked with its communicator by [`dest`].
    Rank, c_int => i32, |raw| Ok(raw)
}

same! {
    /// A tag of a send: 0 to 2^31-1.
    Tag, c_int => i32, |raw| match raw >= 0 {
        true => Ok(raw),
        false => Err(Fault::new(Class::Tag).because(format!("{raw} is negative; tags run from 0 to 2147483647"))),
    }
}

same! {
    /// A tag of a receive: 0 to 2^31-1 or MPI_ANY_TAG.
    RecvTag, c_int => i32, |raw| match raw >= 0 || raw == ANY_TAG {
        true => Ok(raw),
        false => Err(Fault::new(Class::Tag).because(format!("{raw} is neither a tag (0 to 2147483647) nor MPI_ANY_TAG"))),
    }
}

/// A number of elements or bytes: int, or MPI_Count in the `_c` twin.
pub struct Count;

impl Kind for Count {
    type C = c_int;
    type Large = i64;
    type Value = usize;

    #[inline(always)]
    unsafe fn check(raw: c_int) -> Result<usize> {
        usize::try_from(raw).map_err(|_| negative(raw as i64))
    }

    #[inline(always)]
    unsafe fn check_large(raw: i64) -> Result<usize> {
        usize::try_from(raw).map_err(|_| negative(raw))
    }
}

/// A number that may be negative (a displacement, a stride): int, or MPI_Count/MPI_Aint in the `_c` twin.
pub struct Signed;

impl Kind for Signed {
    type C = c_int;
    type Large = i64;
    type Value = i64;

    #[inline(always)]
    unsafe fn check(raw: c_int) -> Result<i64> {
        Ok(raw as i64)
    }

    #[inline(always)]
    unsafe fn check_large(raw: i64) -> Result<i64> {
        Ok(raw)
    }
}

/// A place for a count: int*, or MPI_Count* in the `_c` twin. A value that does not fit int becomes MPI_UNDEFINED.
pub struct OutCount;

/// Where a count goes.
#[derive(Clone, Copy)]
pub enum CountPlace {
    /// int*.
    Int(Place<c_int>),
    /// MPI_Count*.
    Large(Place<i64>),
}

impl CountPlace {
    /// Writes it.
    pub fn set(self, value: i64) {
        match self {
            CountPlace::Int(place) => place.set(c_int::try_from(value).unwrap_or(crate::status::UNDEFINED)),
            CountPlace::Large(place) => place.set(value),
        }
    }
}

impl Kind for OutCount {
    type C = *mut c_int;
    type Large = *mut i64;
    type Value = CountPlace;

    unsafe fn check(raw: *mut c_int) -> Result<CountPlace> {
        Place::new(raw).map(CountPlace::Int)
    }

    unsafe fn check_large(raw: *mut i64) -> Result<CountPlace> {
        Place::new(raw).map(CountPlace::Large)
    }
}

/// An array of counts or displacements: int[], or MPI_Count[]/MPI_Aint[] in the `_c` twin. Its length is known only to
/// the row's body, which calls [`CountArray::of`].
pub struct Counts;

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

impl Kind for Counts {
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
pub struct Place<T>(*mut T);

impl<T> Clone for Place<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Place<T> {}

impl<T: Copy> Place<T> {
    fn new(raw: *mut T) -> Result<Place<T>> {
        match raw.is_null() {
            false => Ok(Place(raw)),
            true => Err(Fault::new(Class::Arg).because("a null pointer cannot take the result")),
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

/// A buffer with its count and datatype. Null is an error only if data would lie at address 0 (MPI_BOTTOM is 0, too).
#[inline(always)]
pub fn data<'a>(at: *mut u8, count: usize, datatype: &'a Type, argument: &'static str) -> Result<Data<'a>> {
    if at.is_null() && count > 0 && datatype.layout.size() > 0 && datatype.layout.true_lb() == 0 {
        return Err(Fault::new(Class::Buffer).argument(argument).because("a null pointer with a count above 0"));
    }
    Ok(Data { at, count, datatype })
}

/// Checks a destination rank against its communicator: a rank of it or MPI_PROC_NULL.
#[inline(always)]
pub fn dest(rank: i32, comm: &Communicator, argument: &'static str) -> Result<()> {
    match (rank as u32 as usize) < comm.peers().size() || rank == PROC_NULL {
        true => Ok(()),
        false => Err(bad_rank(rank, comm, "", Class::Rank).argument(argument)),
    }
}

/// Checks a source rank: as [`dest`], or MPI_ANY_SOURCE.
#[inline(always)]
pub fn source(rank: i32, comm: &Communicator, argument: &'static str) -> Result<()> {
    match (rank as u32 as usize) < comm.peers().size() || rank == PROC_NULL || rank == ANY_SOURCE {
        true => Ok(()),
        false => Err(bad_rank(rank, comm, " nor MPI_ANY_SOURCE", Class::Rank).argument(argument)),
    }
}

/// Checks the root of a collective operation on an intracommunicator.
pub fn root(rank: i32, comm: &Communicator) -> Result<usize> {
    match (rank as u32 as usize) < comm.size() {
        true => Ok(rank as usize),
        false => Err(bad_rank(rank, comm, "", Class::Root).argument("root")),
    }
}

#[cold]
fn bad_rank(rank: i32, comm: &Communicator, or: &str, class: Class) -> Fault {
    let ranks = comm.peers().size();
    Fault::new(class).because(format!("{rank} is no rank of the communicator (0 to {}){or}", ranks - 1))
}

#[cold]
fn negative(count: i64) -> Fault {
    Fault::new(Class::Count).because(format!("{count} is negative"))
}

#[cold]
fn bad_handle(class: Class, what: &str, raw: usize, null: usize) -> Fault {
    Fault::new(class).because(match raw {
        0 => format!("0 is not a {what}; was the variable never set?"),
        _ if raw == null => format!("it is the null {what}"),
        _ => format!("{raw:#x} is no {what} in force; was it freed, or never made?"),
    })
}
