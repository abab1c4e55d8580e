//! Which kernel serves which operation on which basic type: the table of MPI 5.0 §6.9.2.
//!
//! Fortran's INTEGER and C's int are the same basic type here, so that the logical operations, which the standard
//! lists for C integers only, work on both.

use crate::combine::HalfComplex;
use crate::half::Half;
use crate::pair::{Maxloc, Minloc, Pair};
use crate::quad::Quad;
use crate::raw::{Extended, run, singly};
use ompi_core::framework::op::formulas::{
    Band, Bor, Bxor, Complex, Land, Lor, Lxor, Max, Min, NoOp, Prod, Replace, Sum,
};
use ompi_core::framework::op::{Kernel, Operation};
use ompi_core::vector_kernel;
use opal_core::datatype::{Primitive, Scalar};

macro_rules! among {
    ($operation:ident, $type:ty, [$($name:ident)*]) => {
        match $operation {
            $(Operation::$name => Some(singly::<$type, $name> as Kernel),)*
            _ => None,
        }
    };
}

macro_rules! integer {
    ($operation:ident, $type:ty) => {
        among!($operation, $type, [Sum Prod Min Max Band Bor Bxor Land Lor Lxor])
    };
}

macro_rules! float {
    ($operation:ident, $type:ty) => {
        among!($operation, $type, [Sum Prod Min Max])
    };
}

macro_rules! complex {
    ($operation:ident, $type:ty) => {
        among!($operation, Complex<$type>, [Sum Prod])
    };
}

macro_rules! pair {
    ($operation:ident, $value:ty, $index:ty) => {
        among!($operation, Pair<$value, $index>, [Minloc Maxloc Replace NoOp])
    };
}

/// The kernel, if the standard allows the operation on the type.
pub fn kernel(operation: Operation, primitive: Primitive) -> Option<Kernel> {
    use Scalar::{Float, FloatInt, FloatPair, Logical, Signed, SignedInt};
    match (primitive.scalar, primitive.bytes) {
        (Signed, 16) => integer!(operation, i128),
        (Float, 2) => float!(operation, Half),
        (Float, 16) => float!(operation, Extended),
        (Scalar::Quad, 16) => float!(operation, Quad),
        (Scalar::Complex, 4) => among!(operation, HalfComplex, [Sum Prod]),
        (Scalar::Complex, 32) => complex!(operation, Extended),
        (Scalar::QuadComplex, 32) => complex!(operation, Quad),
        (Logical, 16) => among!(operation, u128, [Land Lor Lxor]),
        (FloatInt, 4) => return pair!(operation, f32, i32),
        (FloatInt, 8) => return pair!(operation, f64, i32),
        (FloatInt, 16) => return pair!(operation, Extended, i32),
        (SignedInt, 2) => return pair!(operation, i16, i32),
        (SignedInt, 4) => return pair!(operation, i32, i32),
        (SignedInt, 8) => return pair!(operation, i64, i32),
        (FloatPair, 8) => return pair!(operation, f32, f32),
        (FloatPair, 16) => return pair!(operation, f64, f64),
        _ => vector_kernel!(operation, primitive, run),
    }
    .or_else(|| plain(operation, primitive.bytes))
}

/// REPLACE and NO_OP move bits, whatever they mean.
fn plain(operation: Operation, bytes: u8) -> Option<Kernel> {
    match bytes {
        1 => among!(operation, u8, [Replace NoOp]),
        2 => among!(operation, u16, [Replace NoOp]),
        4 => among!(operation, u32, [Replace NoOp]),
        8 => among!(operation, u64, [Replace NoOp]),
        16 => among!(operation, u128, [Replace NoOp]),
        32 => among!(operation, [u128; 2], [Replace NoOp]),
        _ => None,
    }
}
