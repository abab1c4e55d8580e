//! The basic types: kind and width of a number in memory, as a reduction needs them.

/// How the bits of a scalar are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scalar {
    /// Two's complement.
    Signed,
    /// Unsigned binary.
    Unsigned,
    /// IEEE 754 (16 bytes: the x87 80-bit format in 16 bytes of storage).
    Float,
    /// IEEE 754 binary128, which software computes; never `Float`, whose 16 bytes are the x87 format.
    Quad,
    /// Real and imaginary part, each a `Float` of half the size.
    Complex,
    /// Real and imaginary part, each a `Quad`.
    QuadComplex,
    /// Zero is false.
    Logical,
    /// Text: no arithmetic.
    Character,
    /// Uninterpreted.
    Byte,
    /// A `Float` or `Signed` value followed by an `int` index, for MINLOC and MAXLOC.
    FloatInt,
    /// As `FloatInt` with a signed value.
    SignedInt,
    /// Two `Float` of half the size: value and index (Fortran's 2REAL).
    FloatPair,
}

/// A basic type. Two primitives that are equal have the same representation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Primitive {
    /// Interpretation.
    pub scalar: Scalar,
    /// Bytes of data, without padding. For `FloatInt` and `SignedInt`: of the value, without the index.
    pub bytes: u8,
}

impl Primitive {
    /// A primitive of this interpretation and size.
    pub const fn new(scalar: Scalar, bytes: u8) -> Primitive {
        Primitive { scalar, bytes }
    }

    /// Natural alignment in C on x86-64.
    pub const fn align(self) -> usize {
        match self.scalar {
            Scalar::Complex | Scalar::QuadComplex | Scalar::FloatPair => (self.bytes / 2) as usize,
            _ => self.bytes as usize,
        }
    }
}
