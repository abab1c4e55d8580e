//! Pushing messages: payload first, header last.

use super::hints::{demote_lines, prefetch_for_writing, prefetch_next};
use super::{
    CELLS, DEMOTED_BYTES, FIRST_WINDOW_BYTES, IN_PAYLOAD_RING, INLINE_BYTES, LINE_BYTES, Memory, PART_WINDOW_BYTES,
    PAYLOAD_BYTES, Refused, SLOT_RING_BYTES, SLOTS, WRAPS_PER_GROWTH, copy_small,
};
use crate::sync::{AtomicU64, Ordering, writing};

/// The side that writes. It holds the place of its next slot, so that nothing is computed from a number on the way of a
/// message; slots have numbers where it looks for room.
pub struct Producer {
    memory: Memory,
    // The next slot to be written.
    slot: *mut u8,
    // Where there is no room as far as is known, or the ring ends.
    known_limit: *mut u8,
    // The lowest bit of the headers of this pass over the ring.
    parity: u64,
    // Number of the ring's first slot in this pass over it.
    first_slot: u32,
    // Number of the slot at which there is no room as far as is known.
    limit: u32,
    // Bytes of the byte ring ever allocated, and up to where they may be.
    payload_tail: u64,
    payload_limit: u64,
    // So much of the byte ring is used as yet, and the next payload goes here.
    window: u64,
    next: u64,
    // A producer that is at the end of what it uses may use more once so much was allocated.
    grow_at: u64,
    // payload_tail after the message in each slot, up to the one with this number; after later ones it is as now.
    ring_offsets: [u64; SLOTS as usize],
    offsets_known_to: u32,
}

// SAFETY: addresses of shared memory that outlives the queue by the contract of `Memory::new`.
unsafe impl Send for Producer {}

impl Producer {
    /// At the start of an empty queue.
    pub fn new(memory: Memory) -> Producer {
        let (slot, window) = (memory.slots, FIRST_WINDOW_BYTES);
        // No room is known, so that the first message does not take the fast path, which need not ask whether it is the first.
        let (first_slot, limit, known_limit) = (0, 0, slot);
        Producer {
            memory,
            slot,
            known_limit,
            parity: 1,
            first_slot,
            limit,
            payload_tail: 0,
            payload_limit: window,
            window,
            next: 0,
            grow_at: WRAPS_PER_GROWTH * window,
            ring_offsets: [0; SLOTS as usize],
            offsets_known_to: 0,
        }
    }

    /// Whether nothing was pushed yet.
    #[inline(always)]
    pub fn is_new(&self) -> bool {
        self.slot == self.memory.slots && self.first_slot == 0
    }

    /// Whether there is no room as far as is known: before the first message, and at least once in each pass over the ring.
    #[inline(always)]
    pub fn is_at_limit(&self) -> bool {
        self.slot == self.known_limit
    }

    /// Pushes at most [`INLINE_BYTES`] bytes if there is room as far as is known, which is not so for the first message and
    /// where the ring begins again; says whether. Nothing on the way is a call. `leaving` is called when it is sure to leave.
    ///
    /// # Safety
    /// `from` is readable for `bytes`.
    #[inline(always)]
    pub unsafe fn push_immediate(
        &mut self,
        kind: u8,
        immediate: u64,
        from: *const u8,
        bytes: usize,
        leaving: impl FnOnce(),
    ) -> bool {
        if self.slot == self.known_limit || bytes > INLINE_BYTES {
            return false;
        }
        leaving();
        let payload = self.slot.wrapping_add(8);
        writing(payload, bytes);
        // SAFETY: the slot has room for `bytes` after its header, and the consumer reads it only after `publish`.
        unsafe { copy_small(payload, from, bytes) };
        self.publish(kind, bytes as u64, immediate);
        true
    }

    /// Pushes the slot that was filled last out of this core's cache; for when see [`Producer::push`].
    #[inline(always)]
    pub fn demote_last(&self) {
        demote_lines(self.slot.wrapping_sub(LINE_BYTES), LINE_BYTES);
    }

    /// As [`Producer::push_immediate`], after a look at what the consumer has taken.
    ///
    /// # Safety
    /// `from` is readable for `bytes`, at most [`INLINE_BYTES`].
    pub unsafe fn push_inline(
        &mut self,
        kind: u8,
        immediate: u64,
        from: *const u8,
        bytes: usize,
        demote: bool,
    ) -> Result<(), Refused> {
        assert!(bytes <= INLINE_BYTES);
        self.reserve()?;
        // SAFETY: the caller's promise.
        let pushed = unsafe { self.push_immediate(kind, immediate, from, bytes, || ()) };
        debug_assert!(pushed);
        if demote {
            self.demote_last();
        }
        Ok(())
    }

    /// Pushes at most [`PAYLOAD_BYTES`] bytes, which `fill` writes to the place that it gets.
    ///
    /// `part`: of something longer, whose receiver takes one after the other. In the byte ring the place behind its first so many
    /// bytes is that of a line, and where the part of the ring that is used is full it waits; what is no part uses more.
    ///
    /// `demote`: whether the message's lines are pushed out of this core's cache (`cldemote`), from where the consumer gets
    /// them sooner: pays when the consumer waits for just this message, doubles the cost of a stream.
    #[inline]
    pub fn push(
        &mut self,
        kind: u8,
        immediate: u64,
        bytes: usize,
        part: Option<usize>,
        demote: bool,
        fill: impl FnOnce(*mut u8),
    ) -> Result<(), Refused> {
        assert!(bytes <= PAYLOAD_BYTES);
        self.reserve()?;
        if bytes <= INLINE_BYTES {
            let payload = self.slot.wrapping_add(8);
            writing(payload, bytes);
            fill(payload);
            self.publish(kind, bytes as u64, immediate);
            if demote {
                self.demote_last();
            }
            return Ok(());
        }
        self.record_offsets();
        let pad = part.map_or(0, |lead| lead.next_multiple_of(LINE_BYTES) - lead);
        let offset = self.allocate(pad + bytes, part.is_some())? + pad;
        let at = self.memory.payload_ring.wrapping_add(offset);
        writing(at, bytes);
        fill(at);
        if demote && bytes <= DEMOTED_BYTES {
            demote_lines(at, bytes);
        }
        // Relaxed: the header's Release covers it.
        self.place().store(offset as u64 | (bytes as u64) << 32, Ordering::Relaxed);
        self.publish(kind, IN_PAYLOAD_RING, immediate);
        if demote {
            self.demote_last();
        }
        prefetch_next(self.memory.payload_ring, self.memory.payload_ring_bytes as usize, offset + bytes, bytes);
        Ok(())
    }

    #[inline(always)]
    fn reserve(&mut self) -> Result<(), Refused> {
        if self.slot == self.known_limit { self.wrap_or_refresh() } else { Ok(()) }
    }

    /// Wraps around where the ring ends, and looks for room where none is known.
    #[inline(never)]
    fn wrap_or_refresh(&mut self) -> Result<(), Refused> {
        if self.slot == self.end() {
            (self.slot, self.parity) = (self.memory.slots, self.parity ^ 1);
            self.first_slot = self.first_slot.wrapping_add(SLOTS);
        }
        self.set_known_limit();
        if self.slot == self.known_limit {
            self.refresh()?;
            self.set_known_limit();
        }
        if self.slot == self.known_limit { Err(Refused::Full) } else { Ok(()) }
    }

    #[inline(always)]
    fn publish(&mut self, kind: u8, length: u64, immediate: u64) {
        let word = immediate << 10 | length << 4 | u64::from(kind & 7) << 1 | self.parity;
        // Release pairs with the Acquire in `peek`.
        self.header().store(word, Ordering::Release);
        self.slot = self.slot.wrapping_add(LINE_BYTES);
        // Behind the ring's end lies another sender's.
        if self.slot != self.known_limit {
            prefetch_for_writing(self.slot);
        }
    }

    /// The number of the next slot.
    fn tail(&self) -> u32 {
        self.first_slot.wrapping_add(((self.slot.addr() - self.memory.slots.addr()) / LINE_BYTES) as u32)
    }

    fn end(&self) -> *mut u8 {
        self.memory.slots.wrapping_add(SLOT_RING_BYTES)
    }

    fn set_known_limit(&mut self) {
        // The limit is at most a ring ahead of the tail.
        let slots = self.limit.wrapping_sub(self.first_slot).min(SLOTS);
        self.known_limit = self.memory.slots.wrapping_add(slots as usize * LINE_BYTES);
    }

    /// Marks the slots behind the last whose offset is known: before a message that goes to the byte ring.
    fn record_offsets(&mut self) {
        let tail = self.tail();
        while self.offsets_known_to != tail {
            self.ring_offsets[(self.offsets_known_to % SLOTS) as usize] = self.payload_tail;
            self.offsets_known_to = self.offsets_known_to.wrapping_add(1);
        }
    }

    #[inline(always)]
    fn header(&self) -> &AtomicU64 {
        // SAFETY: a slot: 8-aligned, and only ever accessed as an atomic word by both sides.
        unsafe { &*self.slot.cast::<AtomicU64>() }
    }

    #[inline(always)]
    fn place(&self) -> &AtomicU64 {
        // SAFETY: the second word of a slot, which is this side's until the header is stored.
        unsafe { &*self.slot.wrapping_add(8).cast::<AtomicU64>() }
    }

    #[inline(always)]
    fn allocate(&mut self, bytes: usize, no_grow: bool) -> Result<usize, Refused> {
        let size = bytes.next_multiple_of(LINE_BYTES) as u64;
        let (offset, end) = (self.next, self.payload_tail + size);
        if offset + size > self.window || end > self.payload_limit {
            return self.allocate_slow(size, no_grow);
        }
        (self.payload_tail, self.next) = (end, offset + size);
        Ok(offset as usize)
    }

    /// Begins from the start where the part that is used ends, makes it longer where that pays, and looks for room.
    #[inline(never)]
    fn allocate_slow(&mut self, size: u64, no_grow: bool) -> Result<usize, Refused> {
        // A cell that was read just now is slow to write.
        while size * CELLS > self.window && self.window < PART_WINDOW_BYTES {
            self.grow();
        }
        let (mut offset, mut end) = self.place_for(size);
        if offset == 0 && self.payload_tail >= self.grow_at && self.window < self.memory.payload_ring_bytes {
            self.grow();
            (offset, end) = self.place_for(size);
        }
        if end > self.payload_limit {
            self.refresh()?;
            let most = if no_grow { PART_WINDOW_BYTES } else { self.memory.payload_ring_bytes };
            while end > self.payload_limit {
                if self.window >= most {
                    return Err(Refused::Full);
                }
                self.grow();
                (offset, end) = self.place_for(size);
            }
        }
        (self.payload_tail, self.next) = (end, offset + size);
        Ok(offset as usize)
    }

    // Where a payload goes, and how much will have been allocated then.
    fn place_for(&self, size: u64) -> (u64, u64) {
        if self.next + size <= self.window {
            return (self.next, self.payload_tail + size);
        }
        // A payload lies in one piece: what is left before the end is skipped if it is too short.
        (0, self.payload_tail + (self.window - self.next) + size)
    }

    // Goes on behind what was used until now; the rest of that is skipped. Whatever of it is not consumed yet was allocated
    // before, and is consumed before any of this.
    #[cold]
    fn grow(&mut self) {
        self.payload_tail += self.window - self.next;
        self.next = self.window;
        self.payload_limit += self.window;
        self.window *= 2;
        self.grow_at = self.payload_tail + WRAPS_PER_GROWTH * self.window;
    }

    #[inline(never)]
    fn refresh(&mut self) -> Result<(), Refused> {
        // Acquire pairs with the Release in `advance`: the consumer's reads of what it gave back are over.
        let consumed = self.memory.consumed().load(Ordering::Acquire);
        let known = self.limit.wrapping_sub(SLOTS);
        let (news, outstanding) = (consumed.wrapping_sub(known), self.tail().wrapping_sub(known));
        if news > outstanding {
            return Err(Refused::Broken);
        }
        if news > 0 {
            self.limit = consumed.wrapping_add(SLOTS);
            let last = consumed.wrapping_sub(1);
            // What is given back needs no mark any more, so that `offsets_known_to` never falls behind it.
            let record_offsets = if self.offsets_known_to.wrapping_sub(known) < news {
                self.offsets_known_to = consumed;
                self.payload_tail
            } else {
                self.ring_offsets[(last % SLOTS) as usize]
            };
            self.payload_limit = record_offsets + self.window;
        }
        Ok(())
    }
}
