//! A queue of cache lines from one producer to one consumer in memory shared by two processes that need not trust each
//! other, with a byte ring beside it for payloads that do not fit into a line.
//!
//! * A slot is one line: a header word and 56 bytes. Header: bit 0 parity, 1–3 kind, 4–9 length, 10–63 immediate.
//! * Parity is `(index / SLOTS & 1) ^ 1`: zeroed memory is empty, nothing is ever cleared, and the consumer never writes a
//!   slot, so that the line goes back to the producer without a write-back. The header is stored last. Against a consumer
//!   that clears: 154 instead of 159 ns one way, 22 instead of 28 ns per message of a stream.
//! * Length 63 means that the payload lies in the byte ring: offset and length are the slot's next two 32-bit words.
//! * The consumer publishes how far it is only now and then ([`SLOTS`]/4 messages, a quarter of the part of the byte ring that it has
//!   seen used, at most [`PAYLOAD_BYTES`]); a slot's part of the byte ring is free again when the slot is. Published with every message: 30 instead of 21 ns in a stream.
//! * The byte ring beats runs of slots at every length: 199 ns for 512 bytes, 742 ns and 14 GB/s for 4 KiB.
//!
//! The gain of each trick stands beside it: two pinned processes, 8 bytes with matching unless said, least of many.
//!
//! **Invariant:** whatever the other side writes, nobody reads or writes outside the three areas of [`Memory`].

mod consumer;
mod hints;
mod producer;

pub use self::consumer::{Consumer, Malformed, Peeked};
pub use self::hints::can_demote;
pub use self::producer::Producer;

use super::small::copy_small;
use crate::sync::AtomicU32;

/// Slots in the ring. Models try all orders of a few.
pub const SLOTS: u32 = if cfg!(loom) { 4 } else { 128 };
/// Bytes of the ring.
pub const SLOT_RING_BYTES: usize = SLOTS as usize * LINE_BYTES;
/// The shortest byte ring. What a longer one gains: [`Memory::new`].
pub const MIN_PAYLOAD_RING_BYTES: usize = if cfg!(loom) { 512 } else { 256 * 1024 };
/// The largest payload that a slot holds itself.
pub const INLINE_BYTES: usize = LINE_BYTES - 8;
/// Bytes of a byte ring on a node of so many ranks, each of which may write to each: long where they are few. All of a node
/// together touch at most 64 MiB of byte rings up to 8 ranks, 512 MiB up to 32.
pub const fn payload_ring_bytes(ranks: u32) -> usize {
    match ranks {
        ..=8 => 4 * MIN_PAYLOAD_RING_BYTES,
        9..=32 => 2 * MIN_PAYLOAD_RING_BYTES,
        _ => MIN_PAYLOAD_RING_BYTES,
    }
}
/// So much of the byte ring is used at first, and twice as much after so many wraps, or sooner where messages find no room: a page
/// of shared memory that nobody touched before costs the writer more than copying through 16 of those in use. The first round trips of
/// two ranks took 2.7 ms for 1 MiB and 0.15 to 0.2 for 64 KiB when all of the ring was used from the beginning (AMD EPYC, a
/// virtual machine, 4 µs a page).
const FIRST_WINDOW_BYTES: u64 = MIN_PAYLOAD_RING_BYTES as u64 / if cfg!(loom) { 4 } else { 16 };
/// So many of the longest message fit into what is used, as long as that is less than where parts wait.
const CELLS: u64 = if cfg!(loom) { 1 } else { 4 };
/// Parts of something longer wait only where so much is used.
const PART_WINDOW_BYTES: u64 = MIN_PAYLOAD_RING_BYTES as u64 / 2;
const WRAPS_PER_GROWTH: u64 = if cfg!(loom) { 2 } else { 32 };
/// The largest payload. As much of the byte ring may be consumed and not yet published, as much again be lost where the
/// part that is used ends, and what is left must still have this much in one piece.
pub const PAYLOAD_BYTES: usize = MIN_PAYLOAD_RING_BYTES / 8;
/// Bits of `immediate` that travel.
pub const IMMEDIATE_BITS: u32 = 54;
const LINE_BYTES: usize = 64;
const IN_PAYLOAD_RING: u64 = 63;
// Beyond, demoting costs the sender more than it saves the receiver; in a stream it always doubles the cost.
const DEMOTED_BYTES: usize = 1024;
const FETCHED_AHEAD: usize = 3;
const PREFETCHED_BYTES: usize = 2048;

/// Where a queue lies. The same bytes are mapped by both sides.
#[derive(Clone, Copy)]
pub struct Memory {
    slots: *mut u8,
    payload_ring: *mut u8,
    payload_ring_bytes: u64,
    consumed: *const AtomicU32,
}

// SAFETY: addresses of shared memory that outlives the queue by the contract of `new`.
unsafe impl Send for Memory {}

impl Memory {
    /// A queue over these areas, all zeros at first. `payload_ring_bytes` is a power of two, and not below [`MIN_PAYLOAD_RING_BYTES`].
    ///
    /// A long byte ring is a fast one: a line that is written again soon must come back from the reader's cache, one that
    /// was written long ago waits in the cache that all share. One way through 256 KiB, 512 KiB, 1 MiB, without MPI: 4 KiB take 0.42,
    /// 0.37, 0.33 µs, 16 KiB 0.88, 0.76, 0.69, 64 KiB 2.9, 2.4, 2.3; 2 MiB gain nothing more (AMD EPYC with caches of 512 KiB
    /// per core, cores far apart).
    ///
    /// # Safety
    /// As long as the queue is used: `slots` is valid for [`SLOT_RING_BYTES`] and aligned to 64, `payload_ring` is valid for
    /// `payload_ring_bytes`, `consumed` is valid and aligned for a `u32`; only queues touch them (in this process).
    pub unsafe fn new(slots: *mut u8, payload_ring: *mut u8, payload_ring_bytes: usize, consumed: *mut u8) -> Memory {
        assert!(
            payload_ring_bytes.is_power_of_two()
                && payload_ring_bytes >= MIN_PAYLOAD_RING_BYTES
                && u32::try_from(payload_ring_bytes).is_ok()
        );
        Memory {
            slots,
            payload_ring,
            payload_ring_bytes: payload_ring_bytes as u64,
            consumed: consumed.cast::<AtomicU32>(),
        }
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

#[cfg(all(test, loom))]
#[path = "fifo/models.rs"]
mod models;
#[cfg(test)]
#[path = "fifo/tests.rs"]
mod tests;
