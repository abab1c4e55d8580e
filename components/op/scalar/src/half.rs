//! IEEE 754 binary16, by way of single precision.

/// A half-precision number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Half(pub u16);

impl Half {
    /// Exact.
    pub fn to_f32(self) -> f32 {
        let sign = (self.0 as u32 & 0x8000) << 16;
        let exponent = self.0 as u32 >> 10 & 0x1f;
        let fraction = self.0 as u32 & 0x3ff;
        match exponent {
            // Subnormal: the fraction counts units of 2^-24.
            0 => f32::from_bits((fraction as f32 * f32::from_bits(0x3380_0000)).to_bits() | sign),
            31 => f32::from_bits(sign | 0x7f80_0000 | fraction << 13),
            _ => f32::from_bits(sign | (exponent + 112) << 23 | fraction << 13),
        }
    }

    /// Rounded to nearest, ties to even.
    pub fn from_f32(value: f32) -> Half {
        let bits = value.to_bits();
        let sign = (bits >> 16 & 0x8000) as u16;
        let magnitude = bits & 0x7fff_ffff;
        if magnitude > 0x7f80_0000 {
            // Quiet, and not by chance an infinity.
            return Half(sign | 0x7e00 | (magnitude >> 13 & 0x1ff) as u16);
        }
        // 65520 and above round to infinity.
        if magnitude >= 0x477f_f000 {
            return Half(sign | 0x7c00);
        }
        let exponent = (magnitude >> 23) as i32 - 127;
        let (kept, dropped) = match exponent {
            -14.. => (magnitude - (112 << 23), 13),
            // Subnormal: units of 2^-24. Below 2^-25 nothing is left.
            -25..-14 => (magnitude & 0x7f_ffff | 0x80_0000, (-1 - exponent) as u32),
            _ => return Half(sign),
        };
        let half = 1u32 << (dropped - 1);
        let odd = kept >> dropped & 1;
        Half(sign | ((kept + half - 1 + odd) >> dropped) as u16)
    }
}
