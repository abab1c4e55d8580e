//! Walks the data of `count` elements in the order of the type map, packing or unpacking any part of it.

use super::Layout;
use crate::framework::memcpy;
use alloc::sync::Arc;

/// A place in a message: the buffer, its layout, and how many bytes are already done.
///
/// Owns a reference to the layout, so that freeing the datatype with pending communication is safe.
#[derive(Clone, Debug)]
pub struct Convertor {
    layout: Arc<Layout>,
    buffer: *mut u8,
    total: usize,
    done: usize,
    element: usize,
    run: usize,
    in_run: usize,
}

// SAFETY: a place in the user's buffer, which the user leaves alone until the operation completes (MPI 5.0 §3.7.3).
unsafe impl Send for Convertor {}

impl Convertor {
    /// At the start of `count` elements at `buffer`.
    ///
    /// # Safety
    /// Every byte of the layout's runs of every element is readable (to pack) or writable (to unpack) as long as the
    /// convertor is used.
    pub unsafe fn new(layout: Arc<Layout>, buffer: *mut u8, count: usize) -> Convertor {
        let total = layout.size() * count;
        Convertor { layout, buffer, total, done: 0, element: 0, run: 0, in_run: 0 }
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
        self.layout.is_contiguous().then_some(self.buffer)
    }

    /// Goes to byte `position` of the packed data.
    pub fn seek(&mut self, position: usize) {
        let position = position.min(self.total);
        self.done = position;
        let size = self.layout.size();
        (self.element, self.run, self.in_run) = (0, 0, 0);
        if size == 0 || self.layout.is_contiguous() {
            return;
        }
        self.element = position / size;
        let mut rest = position % size;
        for run in self.layout.runs() {
            if rest < run.bytes {
                break;
            }
            rest -= run.bytes;
            self.run += 1;
        }
        self.in_run = rest;
    }

    /// Packs the next bytes to `to`, at most `room`; returns how many.
    ///
    /// # Safety
    /// `to` is writable for `room` bytes and overlaps no data of the buffer.
    pub unsafe fn pack(&mut self, to: *mut u8, room: usize) -> usize {
        self.walk(room, |data, done, bytes| {
            // SAFETY: `data` by the contract of `new`, `to` by that of this call.
            unsafe { memcpy::copy(to.wrapping_add(done), data, bytes) }
        })
    }

    /// Unpacks `bytes` bytes from `from` as the next ones; returns how many there was room for.
    ///
    /// # Safety
    /// `from` is readable for `bytes` bytes (it may change meanwhile) and overlaps no data of the buffer.
    pub unsafe fn unpack(&mut self, from: *const u8, bytes: usize) -> usize {
        self.walk(bytes, |data, done, bytes| {
            // SAFETY: `data` by the contract of `new`, `from` by that of this call.
            unsafe { memcpy::copy(data, from.wrapping_add(done), bytes) }
        })
    }

    fn walk(&mut self, room: usize, mut each: impl FnMut(*mut u8, usize, usize)) -> usize {
        let wanted = room.min(self.total - self.done);
        if wanted == 0 {
            return 0;
        }
        if self.layout.is_contiguous() {
            each(self.buffer.wrapping_add(self.done), 0, wanted);
            self.done += wanted;
            return wanted;
        }
        let layout = self.layout.clone();
        let runs = layout.runs();
        let mut moved = 0;
        while moved < wanted {
            let run = runs[self.run];
            let bytes = (run.bytes - self.in_run).min(wanted - moved);
            let offset = self.element as isize * layout.extent() + run.offset + self.in_run as isize;
            each(self.buffer.wrapping_offset(offset), moved, bytes);
            moved += bytes;
            self.in_run += bytes;
            if self.in_run == run.bytes {
                self.in_run = 0;
                self.run += 1;
                if self.run == runs.len() {
                    self.run = 0;
                    self.element += 1;
                }
            }
        }
        self.done += moved;
        moved
    }
}
