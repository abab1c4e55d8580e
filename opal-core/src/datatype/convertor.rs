//! Walks the data of `count` elements in the order of the type map, packing or unpacking any part of it.

use super::Layout;
use super::walk::Packed;
use crate::framework::memcpy;
use alloc::sync::Arc;

impl Layout {
    /// Packs the first bytes of `count` elements at `buffer` to `to`, at most `room`, as a [`Convertor`] does; returns how many.
    /// For a caller that packs all at once: no convertor is made.
    ///
    /// # Safety
    /// The data is readable, `to` writable for `room`, and they do not overlap.
    #[inline]
    pub unsafe fn pack(&self, buffer: *mut u8, count: usize, to: *mut u8, room: usize) -> usize {
        // SAFETY: the caller's promise.
        unsafe { self.walk::<true>(buffer, count, to, room) }
    }

    /// Unpacks `bytes` bytes from `from` to the first of `count` elements at `buffer`; returns how many there was room for.
    ///
    /// # Safety
    /// The data is writable, `from` readable for `bytes` (it may change meanwhile), and they do not overlap.
    #[inline]
    pub unsafe fn unpack(&self, buffer: *mut u8, count: usize, from: *const u8, bytes: usize) -> usize {
        // SAFETY: the caller's promise; unpacking only reads `from`.
        unsafe { self.walk::<false>(buffer, count, from.cast_mut(), bytes) }
    }

    /// Copies one element at `from` to one of another layout at `to`, if each is so many runs of one length, evenly apart. `false` if not:
    /// nothing was copied.
    ///
    /// # Safety
    /// The data at `from` is readable, that at `to` writable, and they do not overlap.
    pub unsafe fn copy_strided(&self, from: *mut u8, other: &Layout, to: *mut u8) -> bool {
        let (Some((run, stride, count)), Some((other, step, as_many))) = (self.body.strided(), other.body.strided())
        else {
            return false;
        };
        let fits = (run.bytes, count) == (other.bytes, as_many);
        if fits {
            let from = from.wrapping_offset(run.offset);
            // SAFETY: the runs of both elements.
            unsafe { Packed::<true>(to.wrapping_offset(other.offset)).columns(from, run.bytes, stride, step, count) };
        }
        fits
    }

    /// # Safety
    /// That of `pack` or `unpack`.
    #[inline]
    unsafe fn walk<const PACK: bool>(&self, buffer: *mut u8, count: usize, packed: *mut u8, room: usize) -> usize {
        let bytes = room.min(self.size().saturating_mul(count));
        if bytes > 0 {
            // SAFETY: within the size of all elements.
            unsafe { Packed::<PACK>(packed).turns(&self.body, buffer, self.extent(), 0, bytes) };
        }
        bytes
    }
}

/// A place in a message: the buffer, its layout, and how many bytes are already done.
///
/// Owns a reference to the layout, so that freeing the datatype with pending communication is safe.
#[derive(Clone, Debug)]
pub struct Convertor {
    layout: Arc<Layout>,
    buffer: *mut u8,
    total: usize,
    done: usize,
    // Where the data begins, if it is one run.
    run: Option<*mut u8>,
}

// SAFETY: a place in the user's buffer, which the user leaves alone until the operation completes (MPI 5.0 §3.7.3).
unsafe impl Send for Convertor {}

impl Convertor {
    /// At the start of `count` elements at `buffer`.
    ///
    /// # Safety
    /// Every byte of the layout's runs of every element is readable (to pack) or writable (to unpack) as long as the
    /// convertor is used.
    #[inline]
    pub unsafe fn new(layout: Arc<Layout>, buffer: *mut u8, count: usize) -> Convertor {
        // More than the address space cannot lie anywhere; the promise above is broken already.
        let total = layout.size().saturating_mul(count);
        let run = layout.run_of(count).map(|offset| buffer.wrapping_offset(offset));
        Convertor { layout, buffer, total, done: 0, run }
    }

    /// Bytes of the whole message.
    #[inline]
    pub fn total(&self) -> usize {
        self.total
    }

    /// Bytes packed or unpacked so far.
    #[inline]
    pub fn position(&self) -> usize {
        self.done
    }

    /// The address of the data if all of it is one run.
    #[inline]
    pub fn contiguous(&self) -> Option<*mut u8> {
        self.run
    }

    /// Goes to byte `position` of the packed data.
    #[inline]
    pub fn seek(&mut self, position: usize) {
        self.done = position.min(self.total);
    }

    /// Packs the next bytes to `to`, at most `room`; returns how many.
    ///
    /// # Safety
    /// `to` is writable for `room` bytes and overlaps no data of the buffer.
    #[inline]
    pub unsafe fn pack(&mut self, to: *mut u8, room: usize) -> usize {
        // SAFETY: data by the contract of `new`, `to` by that of this call.
        unsafe { self.walk::<true>(to, room) }
    }

    /// Unpacks `bytes` bytes from `from` as the next ones; returns how many there was room for.
    ///
    /// # Safety
    /// `from` is readable for `bytes` bytes (it may change meanwhile) and overlaps no data of the buffer.
    #[inline]
    pub unsafe fn unpack(&mut self, from: *const u8, bytes: usize) -> usize {
        // SAFETY: data by the contract of `new`, `from` by that of this call; unpacking only reads it.
        unsafe { self.walk::<false>(from.cast_mut(), bytes) }
    }

    /// # Safety
    /// That of `pack` or `unpack`.
    #[inline]
    unsafe fn walk<const PACK: bool>(&mut self, packed: *mut u8, room: usize) -> usize {
        let bytes = room.min(self.total - self.done);
        if bytes == 0 {
            return 0;
        }
        if let Some(run) = self.run {
            let data = run.wrapping_add(self.done);
            let (to, from) = if PACK { (packed, data) } else { (data, packed) };
            // SAFETY: within the run and the packed buffer.
            unsafe { memcpy::copy(to, from, bytes) };
        } else {
            let (body, stride) = (&*self.layout.body, self.layout.extent());
            // SAFETY: within `total`, which is the size of all elements.
            unsafe { Packed::<PACK>(packed).turns(body, self.buffer, stride, self.done, bytes) };
        }
        self.done += bytes;
        bytes
    }
}
