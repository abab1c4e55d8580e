//! A queue of cache lines from one producer to one consumer in memory shared by two processes that need not trust each
//! other, with a byte ring beside it for what does not fit into a line.
//!
//! * A slot is one line: a header word and 56 bytes. Header: bit 0 parity, 1–3 kind, 4–9 length, 10–63 head.
//! * Parity is `(index / SLOTS & 1) ^ 1`: zeroed memory is empty, nothing is ever cleared, and the consumer never writes a
//!   slot, so that the line goes back to the producer without a write-back. The header is stored last. Against a consumer
//!   that clears: 154 instead of 159 ns one way, 22 instead of 28 ns per message of a stream.
//! * Length 63 means that the payload lies in the byte ring: offset and length are the slot's next two 32-bit words.
//! * The consumer publishes how far it is only now and then ([`SLOTS`]/4 messages, [`POOL_BYTES`]/8 bytes); a slot's
//!   part of the byte ring is free again when the slot is. Published with every message: 30 instead of 21 ns in a stream.
//! * The byte ring beats runs of slots at every length: 199 ns for 512 bytes, 742 ns and 14 GB/s for 4 KiB.
//!
//! What single tricks gain stands beside them: two pinned processes, 8 bytes with matching unless said, least of many.
//!
//! **Invariant:** whatever the other side writes, nobody reads or writes outside the three areas of [`Memory`].

use super::small::copy_small;
use crate::mem::Foreign;
use crate::sync::{AtomicU32, AtomicU64, Ordering, writing};

/// Slots in the ring. Models try all orders of a few.
pub const SLOTS: u32 = if cfg!(loom) { 4 } else { 128 };
/// Bytes of the ring.
pub const RING_BYTES: usize = SLOTS as usize * LINE_BYTES;
/// Bytes of the byte ring.
pub const POOL_BYTES: usize = if cfg!(loom) { 512 } else { 256 * 1024 };
/// The largest payload that a slot holds itself.
pub const INLINE_BYTES: usize = LINE_BYTES - 8;
/// The largest payload. An eighth of the byte ring may be consumed and not yet published, as much again be lost where the
/// ring ends, and what is left must still have this much in one piece.
pub const PAYLOAD_BYTES: usize = POOL_BYTES / 8;
/// Bits of `head` that travel.
pub const HEAD_BITS: u32 = 54;
const LINE_BYTES: usize = 64;
const IN_POOL: u64 = 63;
// Beyond, demoting costs the sender more than it saves the receiver; in a stream it always doubles the cost.
const DEMOTED_BYTES: usize = 1024;
const FETCHED_AHEAD: u32 = 3;
const PREFETCHED_LINES: usize = 64;

/// Where a queue lies. The same bytes are mapped by both sides.
#[derive(Clone, Copy)]
pub struct Memory {
    slots: *mut u8,
    pool: *mut u8,
    consumed: *const AtomicU32,
}

// SAFETY: addresses of shared memory that outlives the queue by the contract of `new`.
unsafe impl Send for Memory {}

impl Memory {
    /// A queue over these areas, all zeros at first.
    ///
    /// # Safety
    /// As long as the queue is used: `slots` is valid for [`RING_BYTES`] and aligned to 64, `pool` is valid for
    /// [`POOL_BYTES`], `consumed` is valid and aligned for a `u32`; only queues touch them (in this process).
    pub unsafe fn new(slots: *mut u8, pool: *mut u8, consumed: *mut u8) -> Memory {
        Memory { slots, pool, consumed: consumed.cast::<AtomicU32>() }
    }

    #[inline(always)]
    fn slot(&self, index: u32) -> *mut u8 {
        self.slots.wrapping_add((index % SLOTS) as usize * LINE_BYTES)
    }

    #[inline(always)]
    fn header(&self, index: u32) -> &AtomicU64 {
        // SAFETY: within the slots, 8-aligned, and only ever accessed as an atomic word by both sides.
        unsafe { &*self.slot(index).cast::<AtomicU64>() }
    }

    #[inline(always)]
    fn place(&self, index: u32) -> &AtomicU64 {
        // SAFETY: the second word of a slot; the producer may write payload here as bytes when the consumer reads it only
        // if it is hostile, and then any value is as good as another.
        unsafe { &*self.slot(index).wrapping_add(8).cast::<AtomicU64>() }
    }

    #[inline(always)]
    fn consumed(&self) -> &AtomicU32 {
        // SAFETY: valid and aligned by the contract of `new`.
        unsafe { &*self.consumed }
    }
}

/// Why a message could not be pushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// No room now.
    Full,
    /// The consumer claims to have taken what was never sent: stop using the queue.
    Broken,
}

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

    /// Pushes at most [`PAYLOAD_BYTES`] bytes, which `fill` writes to the place that it gets.
    ///
    /// `demote`: whether the message's lines are pushed out of this core's cache (`cldemote`), from where the consumer gets
    /// them sooner: pays when the consumer waits for just this message, doubles the cost of a stream.
    #[inline]
    pub fn push(
        &mut self,
        kind: u8,
        head: u64,
        bytes: usize,
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
        let offset = self.allocate(bytes)?;
        let at = self.memory.pool.wrapping_add(offset);
        writing(at, bytes);
        fill(at);
        if demote && bytes <= DEMOTED_BYTES {
            demote_lines(at, bytes);
        }
        // Relaxed: the header's Release covers it.
        self.memory.place(tail).store(offset as u64 | (bytes as u64) << 32, Ordering::Relaxed);
        self.publish(tail, kind, IN_POOL, head, demote);
        prefetch_next(at.wrapping_add(bytes.next_multiple_of(LINE_BYTES)), bytes, self.room_behind(offset, bytes));
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

    fn room_behind(&self, offset: usize, bytes: usize) -> usize {
        POOL_BYTES.saturating_sub(offset + bytes.next_multiple_of(LINE_BYTES))
    }
}

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

/// Asks for a line with the right to write it, so that the next store does not wait for it: 136 instead of 138 ns one way,
/// 10.6 instead of 19 ns in a stream without matching.
#[inline(always)]
fn prefetch_for_writing(at: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint; any address is allowed, and a core without it treats it as a no-op.
    unsafe {
        core::arch::asm!("prefetchw [{}]", in(reg) at, options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}

/// Whether this core knows `cldemote`; elsewhere the instruction does nothing.
pub fn can_demote() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        // CPUID leaf 7, subleaf 0: ECX bit 25 (Intel SDM, CPUID).
        core::arch::x86_64::__cpuid(0).eax >= 7 && core::arch::x86_64::__cpuid_count(7, 0).ecx & 1 << 25 != 0
    }
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Pushes lines to a cache that both cores share: 134 instead of 136 ns one way, where the peer waits for just this message.
#[inline(always)]
fn demote_lines(at: *const u8, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    for line in 0..bytes.div_ceil(LINE_BYTES) {
        // SAFETY: a hint; any address is allowed, and a core without it treats it as a no-op.
        unsafe {
            core::arch::asm!("cldemote [{}]", in(reg) at.wrapping_add(line * LINE_BYTES), options(nostack, preserves_flags, readonly));
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (at, bytes);
}

/// As above for where the next payload of the same size will go.
#[inline(always)]
fn prefetch_next(at: *const u8, bytes: usize, room: usize) {
    let lines = bytes.min(room).div_ceil(LINE_BYTES).min(PREFETCHED_LINES);
    for line in 0..lines {
        prefetch_for_writing(at.wrapping_add(line * LINE_BYTES));
    }
}

#[cfg(all(test, loom))]
#[path = "lines/models.rs"]
mod models;
#[cfg(test)]
#[path = "lines/tests.rs"]
mod tests;
