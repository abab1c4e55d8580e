//! The loop of all kernels, and the table of those that vectorise. A component compiles both for its instructions.
#![allow(unsafe_code)]

use super::formulas::Combine;

/// `inout[i] = input[i] op inout[i]`, for values of any alignment.
///
/// # Safety
/// `input` is readable and `inout` readable and writable for `count` values of `T`, of which every bit pattern is one;
/// they do not overlap unless they are equal.
#[inline(always)]
pub unsafe fn each<T: Copy, C: Combine<T>>(input: *const u8, inout: *mut u8, count: usize) {
    let (input, inout) = (input.cast::<T>(), inout.cast::<T>());
    for index in 0..count {
        let from = input.wrapping_add(index);
        // SAFETY: index < count.
        let first = unsafe { from.read_unaligned() };
        let place = inout.wrapping_add(index);
        // SAFETY: index < count.
        let second = unsafe { place.read_unaligned() };
        // SAFETY: index < count.
        unsafe { place.write_unaligned(C::apply(first, second)) };
    }
}

/// The kernel of an operation on a basic type among those whose loops vectorise, `run` being the component's instance of
/// [`each`].
#[macro_export]
macro_rules! vector_kernel {
    ($operation:expr, $primitive:expr, $run:ident) => {{
        use opal_core::datatype::Scalar::{Byte, Complex, Float, Logical, Signed, Unsigned};
        use $crate::framework::op::formulas;
        match ($primitive.scalar, $primitive.bytes) {
            (Signed, 1) => $crate::vector_kernel!(integer $operation, i8, $run),
            (Signed, 2) => $crate::vector_kernel!(integer $operation, i16, $run),
            (Signed, 4) => $crate::vector_kernel!(integer $operation, i32, $run),
            (Signed, 8) => $crate::vector_kernel!(integer $operation, i64, $run),
            (Unsigned, 1) => $crate::vector_kernel!(integer $operation, u8, $run),
            (Unsigned, 2) => $crate::vector_kernel!(integer $operation, u16, $run),
            (Unsigned, 4) => $crate::vector_kernel!(integer $operation, u32, $run),
            (Unsigned, 8) => $crate::vector_kernel!(integer $operation, u64, $run),
            (Float, 4) => $crate::vector_kernel!(among $operation, f32, $run, [Sum Prod Min Max]),
            (Float, 8) => $crate::vector_kernel!(among $operation, f64, $run, [Sum Prod Min Max]),
            (Complex, 8) => $crate::vector_kernel!(among $operation, formulas::Complex<f32>, $run, [Sum Prod]),
            (Complex, 16) => $crate::vector_kernel!(among $operation, formulas::Complex<f64>, $run, [Sum Prod]),
            (Logical, 1) => $crate::vector_kernel!(among $operation, u8, $run, [Land Lor Lxor]),
            (Logical, 2) => $crate::vector_kernel!(among $operation, u16, $run, [Land Lor Lxor]),
            (Logical, 4) => $crate::vector_kernel!(among $operation, u32, $run, [Land Lor Lxor]),
            (Logical, 8) => $crate::vector_kernel!(among $operation, u64, $run, [Land Lor Lxor]),
            (Byte, 1) => $crate::vector_kernel!(among $operation, u8, $run, [Band Bor Bxor]),
            _ => None,
        }
    }};
    (integer $operation:expr, $type:ty, $run:ident) => {
        $crate::vector_kernel!(among $operation, $type, $run, [Sum Prod Min Max Band Bor Bxor Land Lor Lxor])
    };
    (among $operation:expr, $type:ty, $run:ident, [$($name:ident)*]) => {
        match $operation {
            $($crate::framework::op::Operation::$name => {
                Some($run::<$type, $crate::framework::op::formulas::$name> as $crate::framework::op::Kernel)
            })*
            _ => None,
        }
    };
}
