//! The loop of all kernels, and the table of those that vectorise. A component compiles both for its instructions.
#![allow(unsafe_code)]

use super::formulas::Combine;

/// `out[i] = first[i] op second[i]`, for values of any alignment.
///
/// # Safety
/// `first` and `second` are readable and `out` is writable for `count` values of `T`, of which every bit pattern is one. `out`
/// is where `second` is, or overlaps neither; `first` and `second` do not overlap unless they are equal.
#[inline(always)]
pub unsafe fn each<T: Copy, C: Combine<T>>(first: *const u8, second: *const u8, out: *mut u8, count: usize) {
    if out.cast_const() != second {
        // SAFETY: the caller's promise.
        let first = unsafe { core::slice::from_raw_parts(first.cast::<Packed<T>>(), count) };
        // SAFETY: likewise.
        let second = unsafe { core::slice::from_raw_parts(second.cast::<Packed<T>>(), count) };
        // SAFETY: likewise, and it overlaps neither.
        let out = unsafe { core::slice::from_raw_parts_mut(out.cast::<Packed<T>>(), count) };
        return apart::<T, C>(first, second, out);
    }
    // SAFETY: likewise.
    unsafe { singly::<T, C>(first, out, out, count) }
}

/// [`each`] for what does not vectorise: half as long.
///
/// # Safety
/// That of [`each`].
#[inline(always)]
pub unsafe fn singly<T: Copy, C: Combine<T>>(first: *const u8, second: *const u8, out: *mut u8, count: usize) {
    let (first, second, out) = (first.cast::<T>(), second.cast::<T>(), out.cast::<T>());
    for index in 0..count {
        // SAFETY: index < count.
        let a = unsafe { first.wrapping_add(index).read_unaligned() };
        // SAFETY: index < count.
        let b = unsafe { second.wrapping_add(index).read_unaligned() };
        // SAFETY: index < count.
        unsafe { out.wrapping_add(index).write_unaligned(C::apply(a, b)) };
    }
}

// References tell the compiler that it need not look for overlaps.
#[inline(always)]
fn apart<T: Copy, C: Combine<T>>(first: &[Packed<T>], second: &[Packed<T>], out: &mut [Packed<T>]) {
    for ((a, b), to) in first.iter().zip(second).zip(out) {
        *to = Packed(C::apply(a.0, b.0));
    }
}

#[derive(Clone, Copy)]
#[repr(C, packed)]
struct Packed<T>(T);

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
