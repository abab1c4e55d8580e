//! Taking messages: what the producer wrote is looked at once and checked.

use super::{FETCHED_AHEAD, IN_POOL, INLINE_BYTES, Memory, PAYLOAD_BYTES, POOL_BYTES, SLOTS};
use crate::mem::Foreign;
use crate::sync::Ordering;

/// A message that was not taken yet.
#[derive(Clone, Copy, Debug)]
pub struct Peeked {
    /// 0 to 7.
    pub kind: u8,
    /// The head.
    pub head: u64,
    // The payload, in the queue's memory.
    at: *const u8,
    bytes: usize,
}

impl Peeked {
    /// The payload, until the message is taken.
    #[inline(always)]
    pub fn payload<'a>(&self) -> Foreign<'a> {
        // SAFETY: `peek`, which alone makes a `Peeked`, checked that all of it lies in the queue's memory; that is valid as
        // long as the queue is used by the contract of `Memory::new`.
        unsafe { Foreign::new(self.at, self.bytes) }
    }
}

/// What the producer wrote is no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

/// The side that reads.
pub struct Consumer {
    memory: Memory,
    next: u32,
    // Bytes of the byte ring since the last publication.
    unpublished_bytes: u32,
    // Of the message that was looked at last and is not taken yet, if it lies in the byte ring.
    pooled_bytes: u32,
}

impl Consumer {
    /// At the start of an empty queue.
    pub fn new(memory: Memory) -> Consumer {
        Consumer { memory, next: 0, unpublished_bytes: 0, pooled_bytes: 0 }
    }

    /// The next message, if there is one.
    #[inline(always)]
    pub fn peek(&mut self) -> Result<Option<Peeked>, Malformed> {
        // Acquire pairs with the Release in `publish`. The word is loaded once: everything below is about this value.
        let next = self.next;
        let word = self.memory.header(next).load(Ordering::Acquire);
        if (word as u32 ^ (next / SLOTS)) & 1 == 0 {
            return Ok(None);
        }
        let (kind, length, head) = ((word >> 1 & 7) as u8, word >> 4 & 63, word >> 10);
        if length <= INLINE_BYTES as u64 {
            let at = self.memory.slot(next).wrapping_add(8).cast_const();
            return Ok(Some(Peeked { kind, head, at, bytes: length as usize }));
        }
        self.peek_pooled(kind, length, head)
    }

    #[inline]
    fn peek_pooled(&mut self, kind: u8, length: u64, head: u64) -> Result<Option<Peeked>, Malformed> {
        let place = self.memory.place(self.next).load(Ordering::Relaxed);
        let (offset, bytes) = (place as u32 as usize, (place >> 32) as usize);
        if length != IN_POOL || bytes > PAYLOAD_BYTES || offset + bytes > POOL_BYTES {
            return Err(Malformed);
        }
        self.pooled_bytes = bytes as u32;
        Ok(Some(Peeked { kind, head, at: self.memory.pool.wrapping_add(offset), bytes }))
    }

    /// Fetches the slot after the next: for who takes one message after the other. Not for who waits for a message, because
    /// that would take a line from the producer that it is about to write.
    #[inline(always)]
    pub fn fetch_ahead(&self) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a hint within the slots.
        unsafe {
            use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(self.memory.slot(self.next.wrapping_add(FETCHED_AHEAD)).cast());
        }
    }

    /// Takes the message that [`Consumer::peek`] returned last.
    #[inline(always)]
    pub fn advance(&mut self) {
        let next = self.next.wrapping_add(1);
        self.next = next;
        if self.pooled_bytes != 0 {
            self.unpublished_bytes += core::mem::take(&mut self.pooled_bytes);
            if self.unpublished_bytes >= PAYLOAD_BYTES as u32 {
                return self.publish(next);
            }
        }
        if next.is_multiple_of(SLOTS / 4) {
            self.publish(next);
        }
    }

    #[inline(always)]
    fn publish(&mut self, next: u32) {
        // Release pairs with the Acquire in `refresh`.
        self.memory.consumed().store(next, Ordering::Release);
        self.unpublished_bytes = 0;
    }
}
