//! One basic element in memory and in external32: its two lengths, and the conversion (MPI 5.0 §14.5.2).

use super::{Primitive, Scalar};

/// How one basic element is converted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Unit {
    // Numbers in it: a complex has two.
    words: u8,
    coding: Coding,
}

/// How one number is converted.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Coding {
    /// The same bits in the other byte order.
    Reversed(u8),
    /// The least significant bytes; with the sign spread when it comes back.
    Narrow { here: u8, there: u8, signed: bool },
    /// The x87's 80 bits in 16 bytes here, binary128 there.
    Extended,
    /// Whatever they mean: the same bytes.
    Opaque(u32),
}

impl Unit {
    /// Uninterpreted.
    pub const BYTE: Unit = Unit { words: 1, coding: Coding::Reversed(1) };

    /// Of a basic type; of a value with its index, that of the value. `narrow`: fewer bytes there.
    pub fn of(primitive: Primitive, narrow: Option<u8>) -> Unit {
        let bytes = primitive.bytes;
        let float = |bytes| if bytes == 16 { Coding::Extended } else { Coding::Reversed(bytes) };
        let (words, coding) = match (primitive.scalar, narrow) {
            (scalar, Some(there)) => {
                let signed = matches!(scalar, Scalar::Signed | Scalar::SignedInt);
                (1, Coding::Narrow { here: bytes, there, signed })
            }
            (Scalar::Float | Scalar::FloatInt, _) => (1, float(bytes)),
            (Scalar::Complex, _) => (2, float(bytes / 2)),
            (Scalar::QuadComplex, _) => (2, Coding::Reversed(bytes / 2)),
            // Its two values count as two elements.
            (Scalar::FloatPair, _) => (1, float(bytes / 2)),
            _ => (1, Coding::Reversed(bytes)),
        };
        Unit { words, coding }
    }

    /// An item of so many bytes that only others can convert.
    pub fn opaque(bytes: u32) -> Unit {
        Unit { words: 1, coding: Coding::Opaque(bytes) }
    }

    /// Bytes in memory.
    pub fn bytes(self) -> usize {
        let word = match self.coding {
            Coding::Reversed(bytes) | Coding::Narrow { here: bytes, .. } => bytes as usize,
            Coding::Extended => 16,
            Coding::Opaque(bytes) => bytes as usize,
        };
        self.words as usize * word
    }

    /// Bytes in the portable representation.
    pub fn external(self) -> usize {
        let word = match self.coding {
            Coding::Reversed(bytes) | Coding::Narrow { there: bytes, .. } => bytes as usize,
            Coding::Extended => 16,
            Coding::Opaque(bytes) => bytes as usize,
        };
        self.words as usize * word
    }

    /// Converts whole elements to the portable representation.
    pub fn encode(self, here: &[u8], there: &mut [u8]) {
        match self.coding {
            Coding::Reversed(bytes) => reverse(here, there, bytes as usize),
            Coding::Narrow { here: wide, there: narrow, .. } => {
                let words = here.chunks_exact(wide as usize).zip(there.chunks_exact_mut(narrow as usize));
                words.for_each(|(from, to)| reverse(&from[..narrow as usize], to, narrow as usize));
            }
            Coding::Extended => {
                let words = here.as_chunks::<16>().0.iter().zip(there.as_chunks_mut::<16>().0);
                words.for_each(|(from, to)| *to = quad_of(u128::from_le_bytes(*from)).to_be_bytes());
            }
            Coding::Opaque(_) => there.copy_from_slice(here),
        }
    }

    /// Converts whole elements from the portable representation.
    pub fn decode(self, there: &[u8], here: &mut [u8]) {
        match self.coding {
            Coding::Reversed(bytes) => reverse(there, here, bytes as usize),
            Coding::Narrow { here: wide, there: narrow, signed } => {
                let words = there.chunks_exact(narrow as usize).zip(here.chunks_exact_mut(wide as usize));
                words.for_each(|(from, to)| {
                    let above = if signed && from[0] >= 0x80 { 0xff } else { 0 };
                    to.fill(above);
                    reverse(from, &mut to[..narrow as usize], narrow as usize);
                });
            }
            Coding::Extended => {
                let words = there.as_chunks::<16>().0.iter().zip(here.as_chunks_mut::<16>().0);
                words.for_each(|(from, to)| *to = extended_of(u128::from_be_bytes(*from)).to_le_bytes());
            }
            Coding::Opaque(_) => here.copy_from_slice(there),
        }
    }
}

/// Reverses the bytes of each word of `bytes` bytes.
fn reverse(from: &[u8], to: &mut [u8], bytes: usize) {
    match bytes {
        1 => to.copy_from_slice(from),
        2 => reverse_each::<2>(from, to),
        4 => reverse_each::<4>(from, to),
        8 => reverse_each::<8>(from, to),
        _ => reverse_each::<16>(from, to),
    }
}

fn reverse_each<const N: usize>(from: &[u8], to: &mut [u8]) {
    for (from, to) in from.as_chunks::<N>().0.iter().zip(to.as_chunks_mut::<N>().0) {
        *to = *from;
        to.reverse();
    }
}

/// binary128 of an x87 number, exactly: exponent and bias are the same, the leading 1 is not stored.
fn quad_of(extended: u128) -> u128 {
    let (sign, exponent) = (extended >> 79 & 1, extended >> 64 & 0x7fff);
    let (leading, fraction) = (extended >> 63 & 1, extended & ((1 << 63) - 1));
    let exponent = match (exponent, leading) {
        // A number below the normal ones whose leading bit is 1 has the value of the smallest exponent.
        (0, leading) => leading,
        (0x7fff, _) => 0x7fff,
        // No number to the x87 either.
        (_, 0) => return sign << 127 | 0x7fff << 112 | 1 << 111,
        (exponent, _) => exponent,
    };
    sign << 127 | exponent << 112 | fraction << 49
}

/// The x87 number next to a binary128, ties to even.
fn extended_of(quad: u128) -> u128 {
    let (sign, exponent, fraction) = (quad >> 127, quad >> 112 & 0x7fff, quad & ((1 << 112) - 1));
    let (kept, cut) = (fraction >> 49, fraction & ((1 << 49) - 1));
    if exponent == 0x7fff {
        // What is not a number stays so although its lower bits go.
        let quiet = u128::from(fraction != 0) << 62;
        return sign << 79 | 0x7fff << 64 | 1 << 63 | kept | quiet;
    }
    let half = 1u128 << 48;
    let up = cut > half || cut == half && kept & 1 == 1;
    // A carry out of the fraction goes to the exponent, as it should.
    let rounded = (exponent << 63 | kept) + u128::from(up);
    let (exponent, kept) = (rounded >> 63, rounded & ((1 << 63) - 1));
    let leading = u128::from(exponent != 0);
    sign << 79 | exponent << 64 | leading << 63 | kept
}

#[cfg(test)]
mod tests {
    use super::{extended_of, quad_of};

    fn extended(sign: u128, exponent: u128, mantissa: u64) -> u128 {
        sign << 79 | exponent << 64 | u128::from(mantissa)
    }

    #[test]
    fn x87_numbers_survive_binary128() {
        // 1.5, -2, the smallest normal and denormal numbers, the largest, infinities, a NaN.
        let numbers = [
            extended(0, 16383, 0xc000_0000_0000_0000),
            extended(1, 16384, 0x8000_0000_0000_0000),
            extended(0, 1, 0x8000_0000_0000_0000),
            extended(1, 0, 1),
            extended(0, 0, 0),
            extended(1, 0, 0),
            extended(0, 0x7ffe, u64::MAX),
            extended(1, 0x7fff, 0x8000_0000_0000_0000),
            extended(0, 0x7fff, 0xc000_0000_0000_0001),
        ];
        for number in numbers {
            assert_eq!(extended_of(quad_of(number)), number, "{number:#x}");
        }
        // 1.0 is 0x3fff0…0 in binary128, 2 to the -16445 the smallest denormal of the x87.
        assert_eq!(quad_of(extended(0, 16383, 1 << 63)), 0x3fff << 112);
        assert_eq!(quad_of(extended(0, 0, 1)), 1 << 49);
        // A pseudo-denormal is the smallest normal number; an exponent without the leading bit is no number.
        assert_eq!(quad_of(extended(0, 0, 1 << 63)), 1 << 112);
        assert_eq!(quad_of(extended(0, 5, 1)), 0x7fff << 112 | 1 << 111);
    }

    #[test]
    fn binary128_is_rounded_to_even() {
        let one = 0x3fffu128 << 112;
        let (step, half) = (1u128 << 49, 1u128 << 48);
        let number = |mantissa: u64| extended(0, 16383, 1 << 63 | mantissa);
        assert_eq!(extended_of(one | half), number(0));
        assert_eq!(extended_of(one | half | 1), number(1));
        assert_eq!(extended_of(one | step | half), number(2));
        assert_eq!(extended_of(one | (step - 1)), number(1));
        // All bits set: the next power of two; beyond the largest number: infinity; below the normal ones: the first.
        assert_eq!(extended_of(one | ((1 << 112) - 1)), extended(0, 16384, 1 << 63));
        assert_eq!(extended_of(0x7ffe << 112 | ((1 << 112) - 1)), extended(0, 0x7fff, 1 << 63));
        assert_eq!(extended_of((1 << 112) - 1), extended(0, 1, 1 << 63));
        assert_eq!(extended_of(0x7fff << 112 | 1), extended(0, 0x7fff, 0xc000_0000_0000_0000));
    }
}
