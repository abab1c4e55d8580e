//! Taking messages: bytes of the producer are loaded once and checked.

use super::hints::fetch;
use super::{FETCHED_AHEAD, IN_PAYLOAD_RING, INLINE_BYTES, LINE_BYTES, Memory, PAYLOAD_BYTES, SLOT_RING_BYTES, SLOTS};
use crate::mem::Untrusted;
use crate::queue::sleep_flag::awaits_room;
use crate::sync::{AtomicU32, AtomicU64, Ordering, compiler_fence};

/// A message that was not taken yet.
#[derive(Clone, Copy, Debug)]
pub struct Peeked {
    // A whole word: what is left of one would be copied wherever the rest goes.
    kind: u64,
    /// The immediate.
    pub immediate: u64,
    // The payload, in the queue's memory.
    at: *const u8,
    bytes: usize,
}

impl Peeked {
    /// 0 to 7.
    #[inline(always)]
    pub fn kind(&self) -> u8 {
        self.kind as u8
    }

    /// The payload, until the message is taken.
    #[inline(always)]
    pub fn payload<'a>(&self) -> Untrusted<'a> {
        // SAFETY: `peek`, which alone makes a `Peeked`, checked that all of it lies in the queue's memory; that is valid as
        // long as the queue is used by the contract of `Memory::new`.
        unsafe { Untrusted::new(self.at, self.bytes) }
    }
}

/// What the producer wrote is no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

/// The side that reads. It holds the place of its next slot, so that nothing is computed from a number on the way of a message.
pub struct Consumer {
    memory: Memory,
    // The next slot to be read, until it is taken in the ring.
    slot: *const u8,
    // Where more is to be done than to go on: the ring or a quarter of it ends there, or behind a message of the byte ring.
    known_limit: *const u8,
    // From here on no slot is fetched ahead: behind the ring's end lies another sender's.
    fetched: *const u8,
    // What the lowest bit of a header says in slots of this wrap that are new.
    parity: u64,
    // Number of the first slot of this wrap.
    wrap_start: u32,
    // Bytes of the byte ring since the last publication, and how many make the next one due.
    unpublished_bytes: u32,
    publish_at: u32,
    // Where the part of the byte ring ends that was seen used.
    seen_end: u64,
    // Of the message that was looked at last and is not taken yet, if it lies in the byte ring.
    payload_ring_pending: u32,
    // The producer's, in shared memory, where it has one.
    sleep_flag: Option<&'static AtomicU32>,
    // The producer slept for want of room when some was published.
    made_room: bool,
}

impl Consumer {
    /// At the start of an empty queue.
    pub fn new(memory: Memory) -> Consumer {
        let slot = memory.slots.cast_const();
        let known_limit = slot.wrapping_add(QUARTER_BYTES);
        let fetched = slot.wrapping_add(SLOT_RING_BYTES).wrapping_sub(FETCHED_AHEAD * LINE_BYTES);
        Consumer {
            memory,
            slot,
            known_limit,
            fetched,
            parity: 1,
            wrap_start: 0,
            unpublished_bytes: 0,
            publish_at: 0,
            seen_end: 0,
            payload_ring_pending: 0,
            sleep_flag: None,
            made_room: false,
        }
    }

    /// The same, of a producer with this sleep flag.
    pub fn watching(self, sleep_flag: &'static AtomicU32) -> Consumer {
        Consumer { sleep_flag: Some(sleep_flag), ..self }
    }

    /// Whether the producer is to be woken, since it sleeps for want of room and was given some; once.
    #[inline(always)]
    pub fn take_made_room(&mut self) -> bool {
        self.made_room && core::mem::take(&mut self.made_room)
    }

    /// The next message, if there is one.
    #[inline(always)]
    pub fn peek(&mut self) -> Result<Option<Peeked>, Malformed> {
        // Acquire pairs with the Release in `publish`. The word is loaded once: everything below is about this value.
        let word = self.header().load(Ordering::Acquire);
        if (word ^ self.parity) & 1 != 0 {
            return Ok(None);
        }
        let (kind, length, immediate) = (word >> 1 & 7, word >> 4 & 63, word >> 10);
        if length <= INLINE_BYTES as u64 {
            return Ok(Some(Peeked { kind, immediate, at: self.slot.wrapping_add(8), bytes: length as usize }));
        }
        self.peek_in_payload_ring(kind, length, immediate)
    }

    #[inline]
    fn peek_in_payload_ring(&mut self, kind: u64, length: u64, immediate: u64) -> Result<Option<Peeked>, Malformed> {
        let place = self.place().load(Ordering::Relaxed);
        let (offset, bytes) = (place as u32 as usize, (place >> 32) as usize);
        if length != IN_PAYLOAD_RING
            || bytes > PAYLOAD_BYTES
            || (offset + bytes) as u64 > self.memory.payload_ring_bytes
        {
            return Err(Malformed);
        }
        if (offset + bytes) as u64 > self.seen_end {
            self.see_more((offset + bytes) as u64);
        }
        self.payload_ring_pending = bytes as u32;
        self.known_limit = self.slot.wrapping_add(LINE_BYTES);
        Ok(Some(Peeked { kind, immediate, at: self.memory.payload_ring.wrapping_add(offset), bytes }))
    }

    // The less the producer uses, the sooner it must know what is free again, or it will use more.
    #[cold]
    fn see_more(&mut self, end: u64) {
        (self.seen_end, self.publish_at) = (end, (end / 4).min(PAYLOAD_BYTES as u64) as u32);
    }

    /// Fetches the slot after the next, for a consumer that takes one message after the other. Not for one that waits
    /// for a message: that would take a line away from the producer, which is about to write it.
    #[inline(always)]
    pub fn fetch_ahead(&self) {
        if self.slot < self.fetched {
            fetch(self.slot.wrapping_add(FETCHED_AHEAD * LINE_BYTES));
        }
    }

    /// Takes the message that [`Consumer::peek`] returned last.
    #[inline(always)]
    pub fn advance(&mut self) {
        self.slot = self.slot.wrapping_add(LINE_BYTES);
        if self.slot == self.known_limit {
            self.pass_known_limit();
        }
    }

    #[inline]
    fn pass_known_limit(&mut self) {
        self.unpublished_bytes += core::mem::take(&mut self.payload_ring_pending);
        let done = self.slot.addr() - self.memory.slots.addr();
        if done.is_multiple_of(QUARTER_BYTES) || self.unpublished_bytes >= self.publish_at {
            // Release pairs with the Acquire in `refresh`.
            self.memory.consumed().store(self.wrap_start.wrapping_add((done / LINE_BYTES) as u32), Ordering::Release);
            self.unpublished_bytes = 0;
            compiler_fence(Ordering::SeqCst);
            // Relaxed: the sleeper's membarrier orders this load after the store.
            self.made_room |= self.sleep_flag.is_some_and(|flag| awaits_room(flag.load(Ordering::Relaxed)));
        }
        if done == SLOT_RING_BYTES {
            (self.slot, self.parity) = (self.memory.slots, self.parity ^ 1);
            self.wrap_start = self.wrap_start.wrapping_add(SLOTS);
        }
        let done = done % SLOT_RING_BYTES;
        self.known_limit = self.memory.slots.wrapping_add((done / QUARTER_BYTES + 1) * QUARTER_BYTES);
    }

    #[inline(always)]
    fn header(&self) -> &AtomicU64 {
        // SAFETY: a slot: 8-aligned, and only ever accessed as an atomic word by both sides.
        unsafe { &*self.slot.cast::<AtomicU64>() }
    }

    #[inline(always)]
    fn place(&self) -> &AtomicU64 {
        // SAFETY: the second word of a slot; the producer may write payload here as bytes when the consumer reads it only
        // if it is hostile, and then any value is as good as another.
        unsafe { &*self.slot.wrapping_add(8).cast::<AtomicU64>() }
    }
}

// SAFETY: addresses of shared memory that outlives the queue by the contract of `Memory::new`.
unsafe impl Send for Consumer {}

/// After so many bytes of slots the consumer publishes how far it is.
const QUARTER_BYTES: usize = SLOT_RING_BYTES / 4;
