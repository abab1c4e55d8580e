//! The portable representation, external32: big-endian, IEEE 754, lengths of its own (MPI 5.0 §14.5.2).
//!
//! Data goes through a small buffer, so that the convertor moves many elements at once and elements that are cut by
//! gaps or by a fragment's end need no special case.

use super::signature::Signature;
use super::{Convertor, Layout, Primitive, Scalar};
use core::mem::MaybeUninit;

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
    /// The same bits, the other way around.
    Turned(u8),
    /// The least significant bytes; with the sign spread when it comes back.
    Narrow { here: u8, there: u8, signed: bool },
    /// The x87's 80 bits in 16 bytes here, binary128 there.
    Extended,
}

impl Unit {
    /// Uninterpreted.
    pub const BYTE: Unit = Unit { words: 1, coding: Coding::Turned(1) };

    /// Of a basic type; of a value with its index, that of the value. `narrow`: fewer bytes there.
    pub fn of(primitive: Primitive, narrow: Option<u8>) -> Unit {
        let bytes = primitive.bytes;
        let float = |bytes| if bytes == 16 { Coding::Extended } else { Coding::Turned(bytes) };
        let (words, coding) = match (primitive.scalar, narrow) {
            (scalar, Some(there)) => {
                let signed = matches!(scalar, Scalar::Signed | Scalar::SignedInt);
                (1, Coding::Narrow { here: bytes, there, signed })
            }
            (Scalar::Float | Scalar::FloatInt, _) => (1, float(bytes)),
            (Scalar::Complex, _) => (2, float(bytes / 2)),
            (Scalar::QuadComplex, _) => (2, Coding::Turned(bytes / 2)),
            // Its two values count as two elements.
            (Scalar::FloatPair, _) => (1, float(bytes / 2)),
            _ => (1, Coding::Turned(bytes)),
        };
        Unit { words, coding }
    }

    /// Bytes in memory.
    pub fn bytes(self) -> usize {
        let word = match self.coding {
            Coding::Turned(bytes) | Coding::Narrow { here: bytes, .. } => bytes as usize,
            Coding::Extended => 16,
        };
        self.words as usize * word
    }

    /// Bytes in the portable representation.
    pub fn external(self) -> usize {
        let word = match self.coding {
            Coding::Turned(bytes) | Coding::Narrow { there: bytes, .. } => bytes as usize,
            Coding::Extended => 16,
        };
        self.words as usize * word
    }

    fn encode(self, here: &[u8], there: &mut [u8]) {
        match self.coding {
            Coding::Turned(bytes) => turn(here, there, bytes as usize),
            Coding::Narrow { here: wide, there: narrow, .. } => {
                let words = here.chunks_exact(wide as usize).zip(there.chunks_exact_mut(narrow as usize));
                words.for_each(|(from, to)| turn(&from[..narrow as usize], to, narrow as usize));
            }
            Coding::Extended => {
                let words = here.as_chunks::<16>().0.iter().zip(there.as_chunks_mut::<16>().0);
                words.for_each(|(from, to)| *to = quad_of(u128::from_le_bytes(*from)).to_be_bytes());
            }
        }
    }

    fn decode(self, there: &[u8], here: &mut [u8]) {
        match self.coding {
            Coding::Turned(bytes) => turn(there, here, bytes as usize),
            Coding::Narrow { here: wide, there: narrow, signed } => {
                let words = there.chunks_exact(narrow as usize).zip(here.chunks_exact_mut(wide as usize));
                words.for_each(|(from, to)| {
                    let above = if signed && from[0] >= 0x80 { 0xff } else { 0 };
                    to.fill(above);
                    turn(from, &mut to[..narrow as usize], narrow as usize);
                });
            }
            Coding::Extended => {
                let words = there.as_chunks::<16>().0.iter().zip(here.as_chunks_mut::<16>().0);
                words.for_each(|(from, to)| *to = extended_of(u128::from_be_bytes(*from)).to_le_bytes());
            }
        }
    }
}

/// Writes `count` elements at `buffer` to `to` in the portable representation, and returns how many bytes that were:
/// `count` times [`Layout::external_size`].
///
/// # Safety
/// Every run of the elements is readable, `to` is writable for that many bytes, and they do not overlap.
pub unsafe fn pack_external(layout: &alloc::sync::Arc<Layout>, buffer: *mut u8, count: usize, to: *mut u8) -> usize {
    // SAFETY: readable by the caller's promise.
    let data = unsafe { Convertor::new(layout.clone(), buffer, count) };
    let mut source = Source { data, bytes: [MaybeUninit::uninit(); HELD], begin: 0, end: 0 };
    let mut done = 0;
    each_unit(layout, count, &mut |unit, mut elements| {
        while elements > 0 {
            let here = source.elements(unit.bytes(), elements);
            let some = here.len() / unit.bytes();
            let length = some * unit.external();
            // SAFETY: the caller promised as many bytes as all elements have.
            let there = unsafe { core::slice::from_raw_parts_mut(to.wrapping_add(done), length) };
            unit.encode(here, there);
            (done, elements) = (done + length, elements - some);
        }
    });
    done
}

/// Reads `count` elements in the portable representation from `from` into `buffer`; returns how many bytes that were.
///
/// # Safety
/// Every run of the elements is writable, `from` is readable for `count` times [`Layout::external_size`] bytes, and they
/// do not overlap.
pub unsafe fn unpack_external(
    layout: &alloc::sync::Arc<Layout>,
    buffer: *mut u8,
    count: usize,
    from: *const u8,
) -> usize {
    // SAFETY: writable by the caller's promise.
    let mut data = unsafe { Convertor::new(layout.clone(), buffer, count) };
    let mut held = [0u8; HELD];
    let (mut done, mut filled) = (0, 0);
    each_unit(layout, count, &mut |unit, mut elements| {
        while elements > 0 {
            let some = elements.min((HELD - filled) / unit.bytes());
            let (length, room) = (some * unit.external(), some * unit.bytes());
            // SAFETY: the caller promised as many bytes as all elements have.
            let there = unsafe { core::slice::from_raw_parts(from.wrapping_add(done), length) };
            unit.decode(there, &mut held[filled..filled + room]);
            (done, elements, filled) = (done + length, elements - some, filled + room);
            if elements > 0 {
                // SAFETY: `filled` bytes of a buffer of our own.
                unsafe { data.unpack(held.as_ptr(), filled) };
                filled = 0;
            }
        }
    });
    // SAFETY: as above.
    unsafe { data.unpack(held.as_ptr(), filled) };
    done
}

/// Packed bytes on their way out.
struct Source {
    data: Convertor,
    bytes: [MaybeUninit<u8>; HELD],
    begin: usize,
    end: usize,
}

impl Source {
    /// The next packed bytes: at least one and at most `most` elements of `size` bytes, which the data still has.
    fn elements(&mut self, size: usize, most: usize) -> &[u8] {
        if self.end - self.begin < size {
            self.bytes.copy_within(self.begin..self.end, 0);
            (self.begin, self.end) = (0, self.end - self.begin);
            let free = &mut self.bytes[self.end..];
            // SAFETY: a buffer of our own; what the convertor reads is its maker's promise.
            self.end += unsafe { self.data.pack(free.as_mut_ptr().cast(), free.len()) };
        }
        let length = ((self.end - self.begin) / size).min(most) * size;
        let there = self.bytes[self.begin..self.begin + length].as_ptr().cast::<u8>();
        self.begin += length;
        // SAFETY: these bytes lie before `end`, up to which the convertor wrote.
        unsafe { core::slice::from_raw_parts(there, length) }
    }
}

/// Calls back with the basic elements of `count` elements in order, many that are alike at once.
fn each_unit(layout: &Layout, count: usize, each: &mut dyn FnMut(Unit, usize)) {
    match (&layout.signature, layout.size()) {
        (_, 0) => {}
        (Signature::Uniform(unit), _) => each(*unit, layout.primitives() * count),
        (mixed, _) => (0..count).for_each(|_| each_part(mixed, each)),
    }
}

fn each_part(signature: &Signature, each: &mut dyn FnMut(Unit, usize)) {
    let Signature::Mixed(mixed) = signature else { return };
    for part in &mixed.parts {
        match &part.of {
            Signature::Uniform(unit) => each(*unit, part.count * part.elements),
            inner => (0..part.count).for_each(|_| each_part(inner, each)),
        }
    }
}

/// Turns words of `bytes` bytes around.
fn turn(from: &[u8], to: &mut [u8], bytes: usize) {
    match bytes {
        1 => to.copy_from_slice(from),
        2 => turn_each::<2>(from, to),
        4 => turn_each::<4>(from, to),
        8 => turn_each::<8>(from, to),
        _ => turn_each::<16>(from, to),
    }
}

fn turn_each<const N: usize>(from: &[u8], to: &mut [u8]) {
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

/// Bytes on their way: many elements, little stack.
const HELD: usize = 4096;

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
