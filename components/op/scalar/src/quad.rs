//! IEEE 754 binary128 (Fortran's REAL*16) by integer arithmetic, rounded to nearest, ties to even.

use core::cmp::Ordering;
use core::ops::{Add, Mul, Sub};

/// A quadruple-precision number.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Quad(pub u128);

const SIGN: u128 = 1 << 127;
const INFINITY: u128 = 0x7fff << 112;
const NAN: u128 = 0x7_fff8 << 108;
const HIDDEN: u128 = 1 << 112;
const BIAS: i32 = 16383;
// Rounding looks at three bits below the last one: guard, round and sticky.
const EXTRA: u32 = 3;
const TOP: u128 = HIDDEN << EXTRA;

impl Quad {
    fn magnitude(self) -> u128 {
        self.0 & !SIGN
    }

    fn is_nan(self) -> bool {
        self.magnitude() > INFINITY
    }

    /// Exponent (1 for subnormals) and significand with its hidden bit.
    fn parts(self) -> (i32, u128) {
        let fraction = self.0 & (HIDDEN - 1);
        match (self.magnitude() >> 112) as i32 {
            0 => (1, fraction),
            exponent => (exponent, fraction | HIDDEN),
        }
    }

    /// As `parts` with the hidden bit always set, for a number that is not zero.
    fn normal_parts(self) -> (i32, u128) {
        let (exponent, significand) = self.parts();
        let shift = significand.leading_zeros() - HIDDEN.leading_zeros();
        (exponent - shift as i32, significand << shift)
    }
}

impl Add for Quad {
    type Output = Quad;
    fn add(self, other: Quad) -> Quad {
        if let Some(nan) = nan_of(self, other) {
            return nan;
        }
        let (big, small) = if self.magnitude() >= other.magnitude() { (self, other) } else { (other, self) };
        let sign = big.0 & SIGN;
        let same = (big.0 ^ small.0) & SIGN == 0;
        if big.magnitude() == INFINITY {
            return if !same && small.magnitude() == INFINITY { Quad(NAN) } else { big };
        }
        let (mut exponent, significand) = big.parts();
        let (small_exponent, small_significand) = small.parts();
        let addend = shift_right(small_significand << EXTRA, (exponent - small_exponent) as u32);
        let mut sum = significand << EXTRA;
        sum = if same { sum + addend } else { sum - addend };
        if sum == 0 {
            // x - x is +0; -0 + -0 is -0.
            return Quad(if same { sign } else { 0 });
        }
        let left = (sum.leading_zeros().saturating_sub(TOP.leading_zeros())).min((exponent - 1) as u32);
        sum <<= left;
        exponent -= left as i32;
        pack(sign, exponent, sum)
    }
}

impl Sub for Quad {
    type Output = Quad;
    fn sub(self, other: Quad) -> Quad {
        self + Quad(other.0 ^ SIGN)
    }
}

impl Mul for Quad {
    type Output = Quad;
    fn mul(self, other: Quad) -> Quad {
        if let Some(nan) = nan_of(self, other) {
            return nan;
        }
        let sign = (self.0 ^ other.0) & SIGN;
        let (a, b) = (self.magnitude(), other.magnitude());
        if a == INFINITY || b == INFINITY {
            return Quad(if a == 0 || b == 0 { NAN } else { sign | INFINITY });
        }
        if a == 0 || b == 0 {
            return Quad(sign);
        }
        let ((exponent_a, a), (exponent_b, b)) = (self.normal_parts(), other.normal_parts());
        let (high, low) = wide_product(a, b);
        // The product of two significands has 225 or 226 bits; 116 or 117 stay.
        let sticky = (low & ((1 << 109) - 1) != 0) as u128;
        pack(sign, exponent_a + exponent_b - BIAS, high << 19 | low >> 109 | sticky)
    }
}

impl PartialEq for Quad {
    fn eq(&self, other: &Quad) -> bool {
        self.partial_cmp(other) == Some(Ordering::Equal)
    }
}

impl PartialOrd for Quad {
    fn partial_cmp(&self, other: &Quad) -> Option<Ordering> {
        if self.is_nan() || other.is_nan() {
            return None;
        }
        // Sign and magnitude to two's complement; both zeros become 0.
        let value = |of: &Quad| if of.0 & SIGN == 0 { of.0 as i128 } else { -(of.magnitude() as i128) };
        Some(value(self).cmp(&value(other)))
    }
}

fn nan_of(a: Quad, b: Quad) -> Option<Quad> {
    let quiet = |of: Quad| Quad(of.0 | NAN);
    if a.is_nan() { Some(quiet(a)) } else { b.is_nan().then(|| quiet(b)) }
}

/// Rounds a significand with `EXTRA` more bits, and perhaps one above, and assembles the number.
fn pack(sign: u128, mut exponent: i32, mut significand: u128) -> Quad {
    if significand >= TOP << 1 {
        significand = shift_right(significand, 1);
        exponent += 1;
    }
    if exponent < 1 {
        significand = shift_right(significand, (1 - exponent) as u32);
        exponent = 1;
    }
    if exponent >= 0x7fff {
        return Quad(sign | INFINITY);
    }
    let odd = significand >> EXTRA & 1;
    let rounded = (significand + (1 << (EXTRA - 1)) - 1 + odd) >> EXTRA;
    // The hidden bit adds one to the exponent, and so does a carry out of the rounding; subnormals have neither.
    Quad(sign | ((((exponent - 1) as u128) << 112) + rounded))
}

/// To the right, with every bit that falls out kept as one at the end.
fn shift_right(value: u128, by: u32) -> u128 {
    match by {
        0 => value,
        1..128 => value >> by | (value << (128 - by) != 0) as u128,
        _ => (value != 0) as u128,
    }
}

fn wide_product(a: u128, b: u128) -> (u128, u128) {
    const LOW: u128 = u64::MAX as u128;
    let (a1, a0, b1, b0) = (a >> 64, a & LOW, b >> 64, b & LOW);
    let (p00, p01, p10, p11) = (a0 * b0, a0 * b1, a1 * b0, a1 * b1);
    let middle = (p00 >> 64) + (p01 & LOW) + (p10 & LOW);
    (p11 + (p01 >> 64) + (p10 >> 64) + (middle >> 64), middle << 64 | p00 & LOW)
}
