//! The formulas for types that are computed by code of our own.

use crate::half::Half;
use crate::quad::Quad;
use crate::raw::Extended;
use ompi_core::framework::op::formulas::{Combine, Complex, FloatNumber, Prod, Sum};
use ompi_core::{float_formulas, formulas};

impl FloatNumber for Extended {}
impl FloatNumber for Quad {}

float_formulas! { Extended Quad }

formulas! { Half:
    Sum |a, b| Half::from_f32(a.to_f32() + b.to_f32());
    Prod |a, b| Half::from_f32(a.to_f32() * b.to_f32());
    Min |a, b| if a.to_f32() < b.to_f32() || a.to_f32().is_nan() { a } else { b };
    Max |a, b| if a.to_f32() > b.to_f32() || a.to_f32().is_nan() { a } else { b };
}

/// Real and imaginary part in half precision, combined in single precision.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct HalfComplex {
    /// Real part.
    pub re: Half,
    /// Imaginary part.
    pub im: Half,
}

impl HalfComplex {
    fn widen(self) -> Complex<f32> {
        Complex { re: self.re.to_f32(), im: self.im.to_f32() }
    }

    fn narrow(value: Complex<f32>) -> HalfComplex {
        HalfComplex { re: Half::from_f32(value.re), im: Half::from_f32(value.im) }
    }
}

formulas! { HalfComplex:
    Sum |a, b| HalfComplex::narrow(<Sum as Combine<Complex<f32>>>::apply(a.widen(), b.widen()));
    Prod |a, b| HalfComplex::narrow(<Prod as Combine<Complex<f32>>>::apply(a.widen(), b.widen()));
}
