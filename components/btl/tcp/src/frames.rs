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
}

/// A whole frame; its payload lies in the buffer until the next call of `room`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    pub kind: u8,
    pub immediate: u64,
    pub payload: Range<usize>,
}

impl Frames {
    /// Empty.
    pub fn new() -> Frames {
        Frames { buffer: vec![0; FIRST_BYTES + PAGE], start: 0, end: 0 }
    }

    /// Where to receive to, about `readahead` bytes or all that a frame which has begun lacks: never empty after `peek`
    /// returned `Ok(None)`.
    pub fn room(&mut self, readahead: usize) -> &mut [u8] {
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
        &mut self.buffer[self.end..end]
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
        self.buffer.as_ptr().addr().wrapping_neg() % PAGE
    }

    /// So many bytes were received to `room`.
    pub fn filled(&mut self, bytes: usize) {
        assert!(bytes <= self.buffer.len() - self.end);
        self.end += bytes;
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
const FIRST_BYTES: usize = 128 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame of which all but its last byte is there, in a buffer that ends with it and whose page begins behind it.
    #[test]
    fn what_lies_before_the_first_page_of_a_grown_buffer_stays() {
        let bytes = 8 * PAGE;
        let header = Header { kind: 1, pad: 0, bytes, immediate: 9 }.encode();
        // A buffer whose page begins in its middle is there for some of these lengths.
        let mut grown = (0..64).map(|more| Frames { buffer: vec![0; FIRST_BYTES + 16 * more], start: 0, end: 0 });
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
