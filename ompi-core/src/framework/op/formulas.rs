//! The formulas: what each operation makes of two values. Every component that compiles them for other instructions gives
//! the same results: elements are independent of each other, and nothing is contracted or reordered.

use core::ops::{Add, Mul, Sub};

/// An operation as a type, so that each kernel is its own loop.
pub trait Combine<T> {
    /// `first op second`.
    fn apply(first: T, second: T) -> T;
}

/// MPI_SUM.
pub struct Sum;
/// MPI_PROD.
pub struct Prod;
/// MPI_MIN.
pub struct Min;
/// MPI_MAX.
pub struct Max;
/// MPI_BAND.
pub struct Band;
/// MPI_BOR.
pub struct Bor;
/// MPI_BXOR.
pub struct Bxor;
/// MPI_LAND.
pub struct Land;
/// MPI_LOR.
pub struct Lor;
/// MPI_LXOR.
pub struct Lxor;
/// MPI_REPLACE, of accumulate operations.
pub struct Replace;
/// MPI_NO_OP, of accumulate operations.
pub struct NoOp;

/// [`Combine`] of a type for some operations.
#[macro_export]
macro_rules! formulas {
    ($type:ty: $($operation:ident |$a:ident, $b:ident| $formula:expr;)*) => {
        $(impl $crate::framework::op::formulas::Combine<$type> for $crate::framework::op::formulas::$operation {
            #[inline(always)]
            fn apply($a: $type, $b: $type) -> $type {
                $formula
            }
        })*
    };
}

macro_rules! integers {
    ($($type:ty)*) => {
        $(formulas! { $type:
            Sum |a, b| a.wrapping_add(b);
            Prod |a, b| a.wrapping_mul(b);
            Min |a, b| if a < b { a } else { b };
            Max |a, b| if a > b { a } else { b };
            Band |a, b| a & b;
            Bor |a, b| a | b;
            Bxor |a, b| a ^ b;
            Land |a, b| ((a != 0) & (b != 0)) as $type;
            Lor |a, b| ((a != 0) | (b != 0)) as $type;
            Lxor |a, b| ((a != 0) ^ (b != 0)) as $type;
        })*
    };
}
integers! { i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 }

/// A number with the operations of a field and an order in which NaN is below and above everything.
pub trait FloatNumber: Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + PartialOrd {}
impl FloatNumber for f32 {}
impl FloatNumber for f64 {}

/// The formulas of floating-point numbers for a type that is a [`FloatNumber`].
#[macro_export]
macro_rules! float_formulas {
    ($($type:ty)*) => {
        $($crate::formulas! { $type:
            Sum |a, b| a + b;
            Prod |a, b| a * b;
            // The second condition is true for NaN only: it makes the result NaN whichever side has one.
            Min |a, b| if a < b || $crate::framework::op::formulas::is_nan(a) { a } else { b };
            Max |a, b| if a > b || $crate::framework::op::formulas::is_nan(a) { a } else { b };
        })*
    };
}
float_formulas! { f32 f64 }

/// Real and imaginary part.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Complex<T> {
    /// Real part.
    pub re: T,
    /// Imaginary part.
    pub im: T,
}

impl<T: FloatNumber> Combine<Complex<T>> for Sum {
    #[inline(always)]
    fn apply(a: Complex<T>, b: Complex<T>) -> Complex<T> {
        Complex { re: a.re + b.re, im: a.im + b.im }
    }
}

impl<T: FloatNumber> Combine<Complex<T>> for Prod {
    #[inline(always)]
    fn apply(a: Complex<T>, b: Complex<T>) -> Complex<T> {
        Complex { re: a.re * b.re - a.im * b.im, im: a.re * b.im + a.im * b.re }
    }
}

impl<T> Combine<T> for Replace {
    #[inline(always)]
    fn apply(first: T, _: T) -> T {
        first
    }
}

impl<T> Combine<T> for NoOp {
    #[inline(always)]
    fn apply(_: T, second: T) -> T {
        second
    }
}

/// Whether a value is unequal to itself, which of all numbers only NaN is.
#[inline(always)]
#[allow(clippy::eq_op)]
pub fn is_nan<T: Copy + PartialEq>(value: T) -> bool {
    value != value
}
