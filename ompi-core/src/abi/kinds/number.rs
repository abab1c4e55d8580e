//! Numbers whose width differs in the `_c` twin.

use super::kind::{Aint, LargeCount, ParamKind};
use crate::datatype;
use crate::error::{Class, Fault, Result};
use alloc::format;
use core::ffi::c_int;

/// A number of elements or bytes: int, or MPI_Count in the `_c` twin.
pub struct Count;

impl ParamKind for Count {
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

/// A number that remembers its width, for MPI_Type_get_contents: int, or MPI_Count in the `_c` twin.
pub struct AnyNumber;

impl ParamKind for AnyNumber {
    type C = c_int;
    type Large = i64;
    type Value = datatype::Number;

    unsafe fn check(raw: c_int) -> Result<datatype::Number> {
        Ok(datatype::Number::Int(raw))
    }

    unsafe fn check_large(raw: i64) -> Result<datatype::Number> {
        Ok(datatype::Number::Large(raw))
    }
}

/// An MPI_Aint that is an MPI_Count in the `_c` twin; true for the twin.
pub struct TwinAint;

impl ParamKind for TwinAint {
    type C = Aint;
    type Large = LargeCount;
    type Value = (i64, bool);

    unsafe fn check(raw: Aint) -> Result<(i64, bool)> {
        Ok((raw, false))
    }

    unsafe fn check_large(raw: LargeCount) -> Result<(i64, bool)> {
        Ok((raw, true))
    }
}

/// A number that may be negative (a displacement, a stride): int, or MPI_Count/MPI_Aint in the `_c` twin.
pub struct Signed;

impl ParamKind for Signed {
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

#[cold]
pub(super) fn negative(count: i64) -> Fault {
    Fault::new(Class::Count).because(format!("{count} is negative"))
}
