//! Every kernel against a naive formula.

use crate::half::Half;
use crate::quad::Quad;
use crate::raw::Extended;
use crate::table::kernel;
use ompi_core::framework::op::Operation;
use opal_core::datatype::{Primitive, Scalar};
use std::vec::Vec;

/// Runs a kernel on arrays that begin at an odd address.
#[allow(unsafe_code, clippy::multiple_unsafe_ops_per_block)] // arrays of this function
fn apply<T: Copy>(operation: Operation, scalar: Scalar, bytes: u8, first: &[T], second: &[T]) -> Option<Vec<T>> {
    let kernel = kernel(operation, Primitive::new(scalar, bytes))?;
    let size = size_of_val(first);
    let (mut input, mut inout) = (std::vec![0u8; size + 1], std::vec![0xaau8; size + 2]);
    // SAFETY: both arrays have one byte more than is copied and used.
    unsafe {
        core::ptr::copy_nonoverlapping(first.as_ptr().cast(), input.as_mut_ptr().add(1), size);
        core::ptr::copy_nonoverlapping(second.as_ptr().cast(), inout.as_mut_ptr().add(1), size);
        let at = inout.as_mut_ptr().add(1);
        kernel(input.as_ptr().add(1), at, at, first.len());
    }
    assert_eq!((inout[0], inout[size + 1]), (0xaa, 0xaa), "{operation:?} wrote outside");
    // SAFETY: `size` bytes from the second on are `first.len()` values.
    Some((0..first.len()).map(|i| unsafe { inout.as_ptr().add(1).cast::<T>().add(i).read_unaligned() }).collect())
}

struct Random(u64);
impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

macro_rules! check_integer {
    ($scalar:ident $($type:ty)*) => {
        $({
            let mut random = Random(7);
            let mut some = || (0..67).map(|i| if i % 5 == 0 { 0 } else { random.next() as $type }).collect::<Vec<_>>();
            let (a, b) = (some(), some());
            let naive: [(Operation, fn($type, $type) -> $type); 10] = [
                (Operation::Sum, |a, b| a.wrapping_add(b)),
                (Operation::Prod, |a, b| a.wrapping_mul(b)),
                (Operation::Min, |a, b| a.min(b)),
                (Operation::Max, |a, b| a.max(b)),
                (Operation::Band, |a, b| a & b),
                (Operation::Bor, |a, b| a | b),
                (Operation::Bxor, |a, b| a ^ b),
                (Operation::Land, |a, b| if a != 0 && b != 0 { 1 } else { 0 }),
                (Operation::Lor, |a, b| if a != 0 || b != 0 { 1 } else { 0 }),
                (Operation::Lxor, |a, b| if (a != 0) != (b != 0) { 1 } else { 0 }),
            ];
            for (operation, formula) in naive {
                let wanted: Vec<$type> = a.iter().zip(&b).map(|(a, b)| formula(*a, *b)).collect();
                let bytes = size_of::<$type>() as u8;
                assert_eq!(apply(operation, Scalar::$scalar, bytes, &a, &b).unwrap(), wanted, "{operation:?}");
            }
        })*
    };
}

#[test]
fn integers() {
    check_integer!(Signed i8 i16 i32 i64 i128);
    check_integer!(Unsigned u8 u16 u32 u64);
}

#[test]
fn floats_and_nan() {
    let a = [1.5f64, f64::NAN, 2.0, -0.0, f64::INFINITY];
    let b = [0.25f64, 1.0, f64::NAN, 0.0, 3.0];
    let run = |operation| apply(operation, Scalar::Float, 8, &a, &b).unwrap();
    assert_eq!(run(Operation::Sum)[0], 1.75);
    assert_eq!(run(Operation::Prod)[0], 0.375);
    assert_eq!((run(Operation::Min)[0], run(Operation::Max)[0]), (0.25, 1.5));
    for operation in [Operation::Min, Operation::Max] {
        assert!(run(operation)[1].is_nan() && run(operation)[2].is_nan(), "{operation:?}");
        assert_eq!(run(operation)[3].to_bits(), 0, "the second zero stays");
    }
    assert_eq!(run(Operation::Max)[4], f64::INFINITY);
    let single = apply(Operation::Sum, Scalar::Float, 4, &[1.5f32, 2.0], &[2.0f32, -7.0]).unwrap();
    assert_eq!(single, [3.5, -5.0]);
}

#[test]
fn extended_is_exact_where_double_is_not() {
    let (one, tiny) = (Extended::from(1.0), Extended::from(2f64.powi(-60)));
    let sum = apply(Operation::Sum, Scalar::Float, 16, &[one], &[tiny]).unwrap()[0];
    assert_ne!(sum, one, "64 bits of significand hold 1 + 2^-60");
    assert_eq!(f64::from(sum - one), 2f64.powi(-60));
    let numbers = [3.5, -2.0, 0.0, 1e300];
    for a in numbers {
        for b in numbers {
            let run = |operation| {
                f64::from(apply(operation, Scalar::Float, 16, &[Extended::from(a)], &[Extended::from(b)]).unwrap()[0])
            };
            assert_eq!(run(Operation::Sum), a + b);
            assert_eq!(run(Operation::Min), a.min(b));
            assert_eq!(run(Operation::Max), a.max(b));
            assert_eq!(f64::from(Extended::from(a) - Extended::from(b)), a - b);
        }
    }
    assert_eq!(
        f64::from(
            apply(Operation::Prod, Scalar::Float, 16, &[Extended::from(3.0)], &[Extended::from(-7.0)]).unwrap()[0]
        ),
        -21.0
    );
    let nan = Extended::from(f64::NAN);
    assert_eq!(nan.partial_cmp(&one), None);
    assert!(f64::from(apply(Operation::Min, Scalar::Float, 16, &[one], &[nan]).unwrap()[0]).is_nan());
}

#[test]
fn half_round_trips_and_rounds() {
    for bits in 0..=u16::MAX {
        let value = Half(bits).to_f32();
        if !value.is_nan() {
            assert_eq!(Half::from_f32(value).0, bits);
        } else {
            assert!(Half::from_f32(value).to_f32().is_nan());
        }
    }
    assert_eq!(Half(0x3c00).to_f32(), 1.0);
    assert_eq!(Half(0x0001).to_f32(), 2f32.powi(-24));
    // Every number between two halves goes to the nearer one, ties to the even one.
    for bits in 0..0x7bffu16 {
        let (low, high) = (Half(bits).to_f32(), Half(bits + 1).to_f32());
        let middle = (low + high) / 2.0;
        assert_eq!(Half::from_f32(middle).0, bits + (bits & 1), "{bits:#x}");
        assert_eq!(Half::from_f32(f32::from_bits(middle.to_bits() - 1)).0, bits);
        assert_eq!(Half::from_f32(f32::from_bits(middle.to_bits() + 1)).0, bits + 1);
    }
    assert_eq!(Half::from_f32(65520.0).0, 0x7c00);
    assert_eq!(Half::from_f32(65519.0).0, 0x7bff);
    assert_eq!(Half::from_f32(-1e-9).0, 0x8000);
    let sum = apply(Operation::Sum, Scalar::Float, 2, &[Half(0x3c00)], &[Half(0x4000)]).unwrap();
    assert_eq!(sum[0].to_f32(), 3.0);
}

fn quad(value: f64) -> Quad {
    let bits = value.to_bits();
    let (sign, exponent, fraction) = ((bits >> 63) as u128, (bits >> 52 & 0x7ff) as u128, (bits << 12 >> 12) as u128);
    Quad(match exponent {
        0 if fraction == 0 => sign << 127,
        0x7ff => sign << 127 | 0x7fff << 112 | fraction << 60,
        _ => sign << 127 | (exponent + 16383 - 1023) << 112 | fraction << 60,
    })
}

#[test]
fn quad_arithmetic() {
    // Products and sums of numbers with few bits are exact in both formats.
    let mut random = Random(99);
    let mut some = || {
        let value = (random.next() as i32 >> 7) as f64;
        value * 2f64.powi((random.next() % 60) as i32 - 30)
    };
    for _ in 0..2000 {
        let (a, b) = (some(), some());
        assert_eq!((quad(a) * quad(b)).0, quad(a * b).0, "{a} * {b}");
        if (a.abs().log2() - b.abs().log2()).abs() < 25.0 {
            assert_eq!((quad(a) + quad(b)).0, quad(a + b).0, "{a} + {b}");
            assert_eq!((quad(a) - quad(b)).0, quad(a - b).0, "{a} - {b}");
        }
        assert_eq!(quad(a).partial_cmp(&quad(b)), a.partial_cmp(&b));
    }
    let one = quad(1.0);
    let ulp = Quad((16383 - 112) << 112);
    let half_ulp = Quad((16383 - 113) << 112);
    assert_eq!((one + ulp).0, one.0 + 1);
    assert_eq!((one + half_ulp).0, one.0, "a tie goes to the even number");
    assert_eq!((Quad(one.0 + 1) + half_ulp).0, one.0 + 2, "a tie goes to the even number");
    assert_eq!((one + Quad(half_ulp.0 + 1)).0, one.0 + 1);
    let smallest = Quad(1);
    assert_eq!((smallest + smallest).0, 2);
    assert_eq!((Quad(1 << 112) - smallest).0, (1 << 112) - 1, "gradual underflow");
    assert_eq!((Quad(1 << 112) * quad(0.5)).0, 1 << 111);
    assert_eq!((smallest * quad(0.5)).0, 0, "half of the smallest is a tie with the even zero");
    assert_eq!((smallest * quad(0.75)).0, 1);
    let largest = Quad((0x7fff << 112) - 1);
    assert_eq!((largest + largest).0, 0x7fff << 112);
    assert_eq!((largest * quad(2.0)).0, 0x7fff << 112);
    assert_eq!((quad(f64::INFINITY) - quad(f64::INFINITY)).partial_cmp(&one), None);
    assert_eq!((quad(0.0) * quad(f64::INFINITY)).partial_cmp(&one), None);
    assert_eq!((quad(5.0) - quad(5.0)).0, 0);
    assert_eq!((quad(-0.0) + quad(-0.0)).0, 1 << 127);
}

#[test]
fn complex() {
    let (a, b) = ([[1.0f64, 2.0], [0.5, -1.0]], [[3.0f64, -1.0], [2.0, 4.0]]);
    assert_eq!(apply(Operation::Sum, Scalar::Complex, 16, &a, &b).unwrap(), [[4.0, 1.0], [2.5, 3.0]]);
    assert_eq!(apply(Operation::Prod, Scalar::Complex, 16, &a, &b).unwrap(), [[5.0, 5.0], [5.0, 0.0]]);
    let (c, d) = ([[1.0f32, 2.0]], [[3.0f32, -1.0]]);
    assert_eq!(apply(Operation::Prod, Scalar::Complex, 8, &c, &d).unwrap(), [[5.0, 5.0]]);
    let long = |of: [f64; 2]| [of.map(Extended::from)];
    let product = apply(Operation::Prod, Scalar::Complex, 32, &long([1.0, 2.0]), &long([3.0, -1.0])).unwrap();
    assert_eq!(product[0].map(f64::from), [5.0, 5.0]);
    let halves = [[Half::from_f32(1.0), Half::from_f32(2.0)]];
    let sum = apply(Operation::Sum, Scalar::Complex, 4, &halves, &halves).unwrap();
    assert_eq!(sum[0].map(Half::to_f32), [2.0, 4.0]);
    let quads = [[quad(1.0), quad(2.0)]];
    let product = apply(Operation::Prod, Scalar::QuadComplex, 32, &quads, &quads).unwrap();
    assert_eq!(product[0].map(|part| part.0), [quad(-3.0).0, quad(4.0).0]);
    assert!(apply(Operation::Max, Scalar::Complex, 16, &a, &b).is_none());
}

#[test]
fn locations() {
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[repr(C)]
    struct At(f64, i32);
    let a = [At(1.0, 5), At(2.0, 9), At(3.0, 1), At(f64::NAN, 7), At(0.0, 3)];
    let b = [At(1.0, 4), At(2.5, 3), At(1.0, 8), At(-9.0, 2), At(f64::NAN, 6)];
    let run = |operation| apply(operation, Scalar::FloatInt, 8, &a, &b).unwrap();
    let index = |operation| run(operation).iter().map(|at| at.1).collect::<Vec<_>>();
    assert_eq!(index(Operation::Minloc), [4, 9, 8, 7, 6]);
    assert_eq!(index(Operation::Maxloc), [4, 3, 1, 7, 6]);
    let swapped = apply(Operation::Minloc, Scalar::FloatInt, 8, &b, &a).unwrap();
    assert_eq!(swapped.iter().map(|at| at.1).collect::<Vec<_>>(), [4, 9, 8, 7, 6], "the order of operands is free");
    let small = apply(Operation::Maxloc, Scalar::SignedInt, 2, &[(1i16, 2i32)], &[(1i16, 1i32)]).unwrap();
    assert_eq!(small[0].1, 1);
    let fortran = apply(Operation::Minloc, Scalar::FloatPair, 8, &[[2f32, 1.0]], &[[1f32, 7.0]]).unwrap();
    assert_eq!(fortran[0], [1.0, 7.0]);
}

#[test]
fn what_the_standard_does_not_allow() {
    let none = |operation, scalar, bytes| assert!(kernel(operation, Primitive::new(scalar, bytes)).is_none());
    none(Operation::Band, Scalar::Float, 8);
    none(Operation::Land, Scalar::Float, 4);
    none(Operation::Sum, Scalar::Logical, 4);
    none(Operation::Max, Scalar::Logical, 1);
    none(Operation::Sum, Scalar::Byte, 1);
    none(Operation::Sum, Scalar::Character, 1);
    none(Operation::Minloc, Scalar::Signed, 4);
    none(Operation::Sum, Scalar::FloatInt, 8);
    assert!(kernel(Operation::Band, Primitive::new(Scalar::Byte, 1)).is_some());
    assert!(kernel(Operation::Replace, Primitive::new(Scalar::Character, 1)).is_some());
}
