//! Pushing messages: payload first, header last.

use super::hints::{demote_lines, prefetch_for_writing, prefetch_next};
use super::{
    DEMOTED_BYTES, IN_POOL, INLINE_BYTES, LINE_BYTES, Memory, PAYLOAD_BYTES, POOL_BYTES, Refused, SLOTS, copy_small,
};
use crate::sync::{Ordering, writing};

/// The side that writes.
pub struct Producer {
    memory: Memory,
    tail: u32,
    // The slot index at which there is no room as far as is known.
    limit: u32,
    // Bytes of the byte ring ever allocated, and up to where they may be.
    pool_tail: u64,
    pool_limit: u64,
    // pool_tail after the message in each slot.
    marks: [u64; SLOTS as usize],
}

impl Producer {
    /// At the start of an empty queue.
    pub fn new(memory: Memory) -> Producer {
        let pool_limit = POOL_BYTES as u64;
        // No room is known, so that the first message does not go the short way, which need not ask whether it is the first.
        Producer { memory, tail: 0, limit: 0, pool_tail: 0, pool_limit, marks: [0; SLOTS as usize] }
    }

    /// Whether nothing was pushed yet.
    #[inline(always)]
    pub fn is_new(&self) -> bool {
        self.tail == 0
    }

    /// Pushes at most [`INLINE_BYTES`] bytes if there is room as far as is known, which is not so for the first message; says
    /// whether. Nothing on the way is a call. For `demote` see [`Producer::push`].
    ///
    /// # Safety
    /// `from` is readable for `bytes`.
    #[inline(always)]
    pub unsafe fn push_at_once(&mut self, kind: u8, head: u64, from: *const u8, bytes: usize, demote: bool) -> bool {
        let tail = self.tail;
        if tail == self.limit || bytes > INLINE_BYTES {
            return false;
        }
        let payload = self.memory.slot(tail).wrapping_add(8);
        writing(payload, bytes);
        // SAFETY: the slot has room for `bytes` after its header, and the consumer reads it only after `publish`.
        unsafe { copy_small(payload, from, bytes) };
        self.publish(tail, kind, bytes as u64, head, demote);
        true
    }

    /// As [`Producer::push_at_once`], after a look at what the consumer has taken.
    ///
    /// # Safety
    /// `from` is readable for `bytes`, at most [`INLINE_BYTES`].
    pub unsafe fn push_inline(
        &mut self,
        kind: u8,
        head: u64,
        from: *const u8,
        bytes: usize,
        demote: bool,
    ) -> Result<(), Refused> {
        assert!(bytes <= INLINE_BYTES);
        self.reserve()?;
        // SAFETY: the caller's promise.
        let pushed = unsafe { self.push_at_once(kind, head, from, bytes, demote) };
        debug_assert!(pushed);
        Ok(())
    }

    /// Pushes at most [`PAYLOAD_BYTES`] bytes, which `fill` writes to the place that it gets. In the byte ring the place
    /// behind the first `lead` bytes is that of a line.
    ///
    /// `demote`: whether the message's lines are pushed out of this core's cache (`cldemote`), from where the consumer gets
    /// them sooner: pays when the consumer waits for just this message, doubles the cost of a stream.
    #[inline]
    pub fn push(
        &mut self,
        kind: u8,
        head: u64,
        bytes: usize,
        lead: usize,
        demote: bool,
        fill: impl FnOnce(*mut u8),
    ) -> Result<(), Refused> {
        assert!(bytes <= PAYLOAD_BYTES);
        self.reserve()?;
        let tail = self.tail;
        if bytes <= INLINE_BYTES {
            let payload = self.memory.slot(tail).wrapping_add(8);
            writing(payload, bytes);
            fill(payload);
            self.publish(tail, kind, bytes as u64, head, demote);
            return Ok(());
        }
        let pad = lead.next_multiple_of(LINE_BYTES) - lead;
        let offset = self.allocate(pad + bytes)? + pad;
        let at = self.memory.pool.wrapping_add(offset);
        writing(at, bytes);
        fill(at);
        if demote && bytes <= DEMOTED_BYTES {
            demote_lines(at, bytes);
        }
        // Relaxed: the header's Release covers it.
        self.memory.place(tail).store(offset as u64 | (bytes as u64) << 32, Ordering::Relaxed);
        self.publish(tail, kind, IN_POOL, head, demote);
        prefetch_next(self.memory.pool, offset + bytes, bytes);
        Ok(())
    }

    #[inline(always)]
    fn reserve(&mut self) -> Result<(), Refused> {
        if self.tail == self.limit {
            self.refresh()?;
            if self.tail == self.limit {
                return Err(Refused::Full);
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn publish(&mut self, tail: u32, kind: u8, length: u64, head: u64, demote: bool) {
        let parity = u64::from(((tail / SLOTS) & 1) ^ 1);
        let word = head << 10 | length << 4 | u64::from(kind & 7) << 1 | parity;
        // Release pairs with the Acquire in `peek`.
        self.memory.header(tail).store(word, Ordering::Release);
        if demote {
            demote_lines(self.memory.slot(tail), LINE_BYTES);
        }
        self.marks[(tail % SLOTS) as usize] = self.pool_tail;
        self.tail = tail.wrapping_add(1);
        prefetch_for_writing(self.memory.slot(tail.wrapping_add(1)));
    }

    fn allocate(&mut self, bytes: usize) -> Result<usize, Refused> {
        let size = bytes.next_multiple_of(LINE_BYTES) as u64;
        let offset = self.pool_tail % POOL_BYTES as u64;
        // A payload lies in one piece: what is left before the end is skipped if it is too short.
        let skipped = if offset + size > POOL_BYTES as u64 { POOL_BYTES as u64 - offset } else { 0 };
        let end = self.pool_tail + skipped + size;
        if end > self.pool_limit {
            self.refresh()?;
            if end > self.pool_limit {
                return Err(Refused::Full);
            }
        }
        self.pool_tail = end;
        Ok(((end - size) % POOL_BYTES as u64) as usize)
    }

    #[inline(never)]
    fn refresh(&mut self) -> Result<(), Refused> {
        // Acquire pairs with the Release in `advance`: the consumer's reads of what it gave back are over.
        let consumed = self.memory.consumed().load(Ordering::Acquire);
        let known = self.limit.wrapping_sub(SLOTS);
        let (news, outstanding) = (consumed.wrapping_sub(known), self.tail.wrapping_sub(known));
        if news > outstanding {
            return Err(Refused::Broken);
        }
        if news > 0 {
            self.limit = consumed.wrapping_add(SLOTS);
            self.pool_limit = self.marks[(consumed.wrapping_sub(1) % SLOTS) as usize] + POOL_BYTES as u64;
        }
        Ok(())
    }
}
