//! The portable representation, external32: big-endian, IEEE 754, lengths of its own (MPI 5.0 §14.5.2).
//!
//! Data goes through a small buffer, so that the convertor moves many elements at once and elements that are cut by
//! gaps or by a fragment's end need no special case.

use super::element::Unit;
use super::signature::Signature;
use super::{Convertor, Layout};
use core::mem::MaybeUninit;

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

/// Bytes on their way: many elements, little stack.
const HELD: usize = 4096;
