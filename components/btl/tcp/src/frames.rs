//! From a stream of bytes to frames: one buffer per connection, used again and again.

use crate::wire::{HEADER_BYTES, Header, Malformed};
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

/// What was received and not yet taken.
pub struct Frames {
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    // What there was room for came: next time there is more room.
    is_short: bool,
    // Bytes that `room` returned last.
    room: usize,
}

/// A whole frame; its payload lies in the buffer until the next call of `room`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    pub kind: u8,
    pub immediate: u64,
    pub payload: Range<usize>,
}

impl Frames {
    /// Empty. The buffer is small at first: most processes of a large job say little to this one.
    pub fn new() -> Frames {
        Frames::with(vec![0; FIRST_BYTES])
    }

    fn with(buffer: Vec<u8>) -> Frames {
        Frames { buffer, start: 0, end: 0, is_short: false, room: 0 }
    }

    /// Where to receive to, about `readahead` bytes or all that a frame which has begun lacks: never empty after `peek`
    /// returned `Ok(None)`.
    pub fn room(&mut self, readahead: usize) -> &mut [u8] {
        if core::mem::take(&mut self.is_short) {
            self.grow();
        }
        let wanted = self.wanted();
        if self.start == self.end
            || self.start + wanted > self.buffer.len()
            || self.buffer.len() - self.end < self.buffer.len() / 4
        {
            self.compact();
        }
        if self.start + wanted > self.buffer.len() {
            // A sound header promised a frame that is longer than the buffer: at most PAYLOAD_MAX.
            self.buffer.resize(self.start + wanted, 0);
        }
        let most = readahead.max(wanted.saturating_sub(self.end - self.start));
        let end = self.buffer.len().min(self.end + most);
        self.room = end - self.end;
        &mut self.buffer[self.end..end]
    }

    /// Four times the buffer, but not more than a stream needs.
    fn grow(&mut self) {
        if self.buffer.len() >= MOST_BYTES {
            return;
        }
        let mut buffer = vec![0; (4 * self.buffer.len()).min(MOST_BYTES)];
        let rest = self.end - self.start;
        buffer[..rest].copy_from_slice(self.rest());
        (self.buffer, self.start, self.end) = (buffer, 0, rest);
    }

    /// Appends bytes that came another way, however many frames are there.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.buffer.len() - self.end < bytes.len() || self.start == self.end {
            self.compact();
        }
        let end = self.end + bytes.len();
        if end > self.buffer.len() {
            self.buffer.resize(end, 0);
        }
        self.buffer[self.end..end].copy_from_slice(bytes);
        self.end = end;
    }

    /// Moves what is there to where the buffer's first page begins. A buffer that grew may begin elsewhere in its page: then what
    /// lies before that stays, because behind it there may be no room.
    fn compact(&mut self) {
        let first = self.first();
        if self.start == self.end {
            (self.start, self.end) = (first, first);
        } else if first < self.start {
            self.buffer.copy_within(self.start..self.end, first);
            (self.start, self.end) = (first, first + self.end - self.start);
        }
    }

    /// Where the buffer's first page begins, which is where the system has what it receives: malloc's memory begins a few bytes
    /// behind (`opal_core::mem::is_aliased_4k`), and the system copies 4 KiB to there in 2.7 µs.
    fn first(&self) -> usize {
        if self.buffer.len() < MOST_BYTES { 0 } else { self.buffer.as_ptr().addr().wrapping_neg() % PAGE }
    }

    /// So many bytes were received to `room`.
    pub fn filled(&mut self, bytes: usize) {
        assert!(bytes <= self.buffer.len() - self.end);
        self.end += bytes;
        self.is_short = bytes == self.room && self.buffer.len() < MOST_BYTES;
    }

    /// The next frame, if it is complete.
    #[inline]
    pub fn peek(&self) -> Result<Option<Frame>, Malformed> {
        let Some(header) = self.buffer[self.start..self.end].first_chunk::<HEADER_BYTES>() else { return Ok(None) };
        let header = Header::parse(header)?;
        let start = self.start + HEADER_BYTES + header.pad;
        if self.end < start + header.bytes {
            return Ok(None);
        }
        Ok(Some(Frame { kind: header.kind, immediate: header.immediate, payload: start..start + header.bytes }))
    }

    /// The bytes of a frame that `peek` returned last.
    #[inline]
    pub fn payload(&self, frame: &Frame) -> &[u8] {
        &self.buffer[frame.payload.clone()]
    }

    /// Takes a frame that `peek` returned last.
    #[inline]
    pub fn advance(&mut self, frame: &Frame) {
        debug_assert!(self.start + HEADER_BYTES <= frame.payload.start);
        self.start = frame.payload.end;
    }

    /// The frame that has begun and is not complete, and what there is of its payload, once that may begin.
    pub fn begun(&self) -> Option<(Header, &[u8])> {
        let (header, rest) = self.buffer[self.start..self.end].split_first_chunk::<HEADER_BYTES>()?;
        let header = Header::parse(header).ok()?;
        let payload = rest.get(header.pad..)?;
        (payload.len() < header.bytes).then_some((header, payload))
    }

    /// Everything that was not taken, whatever it is.
    pub fn rest(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Takes so many bytes of the rest.
    pub fn skip(&mut self, bytes: usize) {
        assert!(bytes <= self.end - self.start);
        self.start += bytes;
    }

    /// Bytes of the frame that has begun, as far as it is known.
    fn wanted(&self) -> usize {
        match self.buffer[self.start..self.end].first_chunk::<HEADER_BYTES>().map(Header::parse) {
            Some(Ok(header)) => HEADER_BYTES + header.pad + header.bytes,
            _ => HEADER_BYTES,
        }
    }
}

const PAGE: usize = 4096;
const FIRST_BYTES: usize = 1 << 10;
/// A page more, so that as many bytes lie behind the first page's beginning.
const MOST_BYTES: usize = (128 << 10) + PAGE;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_buffer_grows_while_more_comes_than_it_takes() {
        let mut frames = Frames::new();
        let mut lengths = Vec::new();
        for _ in 0..6 {
            let room = frames.room(1 << 20);
            room.fill(7);
            let bytes = room.len();
            lengths.push(bytes);
            frames.filled(bytes);
            frames.skip(bytes);
        }
        assert_eq!(lengths[..4], [1 << 10, 4 << 10, 16 << 10, 64 << 10]);
        assert!(lengths[4] >= 128 << 10 && lengths[5] == lengths[4], "{lengths:?}");
        let mut frames = Frames::new();
        for _ in 0..6 {
            assert_eq!(frames.room(1 << 20).len(), FIRST_BYTES, "little comes");
            frames.filled(8);
            frames.skip(8);
        }
    }

    #[test]
    fn what_was_not_taken_survives_growing() {
        let mut frames = Frames::new();
        let first = frames.room(FIRST_BYTES);
        (0..).zip(&mut *first).for_each(|(number, byte)| *byte = number as u8);
        frames.filled(FIRST_BYTES);
        frames.skip(FIRST_BYTES - 16);
        assert!(frames.room(1).len() == 1 && frames.buffer.len() == 4 * FIRST_BYTES);
        let last: Vec<u8> = (0..FIRST_BYTES).map(|number| number as u8).collect();
        assert_eq!(frames.rest(), &last[FIRST_BYTES - 16..]);
    }

    /// A frame of which all but its last byte is there, in a buffer that ends with it and whose page begins behind it.
    #[test]
    fn what_lies_before_the_first_page_of_a_grown_buffer_stays() {
        let bytes = 8 * PAGE;
        let header = Header { kind: 1, pad: 0, bytes, immediate: 9 }.encode();
        // A buffer whose page begins in its middle is there for some of these lengths.
        let mut grown = (0..64).map(|more| Frames::with(vec![0; MOST_BYTES + 16 * more]));
        let mut frames = grown.find(|frames| frames.first() > 0).expect("malloc's memory begins behind a head");
        frames.push(&header);
        frames.push(&vec![7; bytes - 1]);
        frames.buffer.copy_within(frames.start..frames.end, 0);
        (frames.start, frames.end) = (0, frames.end - frames.start);
        frames.buffer.truncate(frames.end);
        assert_eq!(frames.peek(), Ok(None));
        frames.room(1)[0] = 7;
        frames.filled(1);
        let frame = frames.peek().expect("it is sound").expect("it is whole");
        assert!(frame.immediate == 9 && frames.payload(&frame).iter().all(|byte| *byte == 7));
        assert_eq!(frames.payload(&frame).len(), bytes);
    }
}
