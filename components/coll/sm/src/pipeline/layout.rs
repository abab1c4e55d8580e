//! The layout of the rings of a communicator of `n` ranks: two for each, i = 0 for its input, 1 for its results. Offsets in
//! bytes, all zeros at first:
//!
//! | offset | bytes | content | writer |
//! |---|---|---|---|
//! | 0 | 8 | detach count: how many ranks will never access the rings again | each rank once |
//! | 64 + 128 (i n + r) | 8 | head: steps that rank r has written | rank r |
//! | 128 + 128 (i n + r) | 8 | tail: steps that rank r will not read again | rank r |
//! | D0 | | slot s of rank r's ring 0 at D0 + (r N + s) (64 + S0) | rank r |
//! | D1 | | the same of ring 1, with slots of S1 bytes | rank r |
//!
//! D0 is the end of the words, rounded up to a page, D1 the end of rings 0. There are N slots in a ring; of a result each rank
//! has only a part, S1 = S0 / (n - 1), rounded up to a cache line. A slot begins with a cache line of its own, whose first
//! 8 bytes are the length tag: how many bytes the operation that began there moves. Steps are numbered from 0 in each ring;
//! step t has slot t mod N, of the active window (`window`).

/// Offset of the detach count.
pub const DETACH_COUNT: usize = 0;
/// Rings of a rank.
pub const RINGS: usize = 2;
/// The fewest slots of a ring.
pub const SLOTS_LEAST: usize = 8;

/// The size of the rings of one communicator, equal on all its ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Number of ranks.
    pub ranks: usize,
    /// Slots of a ring.
    pub slots: usize,
    /// Bytes of an input slot, a multiple of 64.
    pub slot_bytes: usize,
}

impl Geometry {
    /// Bytes that must be zero before the rings are used.
    pub const fn head_bytes(&self) -> usize {
        self.head(RINGS, 0)
    }

    /// Bytes of all.
    pub const fn bytes(&self) -> usize {
        self.slots_of(RINGS - 1).length_tag(self.ranks, 0)
    }

    /// Offset of the head of a rank's ring.
    #[inline(always)]
    pub const fn head(&self, ring: usize, rank: usize) -> usize {
        64 + (ring * self.ranks + rank) * 128
    }

    /// Offset of a rank's tail in all rings of one kind.
    #[inline(always)]
    pub const fn tail(&self, ring: usize, rank: usize) -> usize {
        self.head(ring, rank) + 64
    }

    /// The slots of a ring.
    pub const fn slots_of(&self, ring: usize) -> Slots {
        let bytes = self.slot_bytes(ring);
        let before = if ring == 0 { 0 } else { self.ranks * self.slots * (TAG_BYTES + self.slot_bytes(0)) };
        let first = self.head_bytes().next_multiple_of(4096) + before;
        Slots { first, apart: self.slots * (TAG_BYTES + bytes), bytes }
    }

    const fn slot_bytes(&self, ring: usize) -> usize {
        if ring == 0 { self.slot_bytes } else { (self.slot_bytes / (self.ranks - 1)).next_multiple_of(64) }
    }
}

/// The slots of one ring of each rank: computed once, since each step of an operation needs them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slots {
    first: usize,
    // From one rank's to the next one's.
    apart: usize,
    /// Bytes of a slot's data.
    pub bytes: usize,
}

impl Slots {
    /// Offset of a slot's data.
    #[inline(always)]
    pub const fn slot(&self, rank: usize, slot: usize) -> usize {
        self.length_tag(rank, slot) + TAG_BYTES
    }

    /// Offset of the length tag before a slot's data.
    #[inline(always)]
    pub const fn length_tag(&self, rank: usize, slot: usize) -> usize {
        self.first + rank * self.apart + slot * (TAG_BYTES + self.bytes)
    }
}

// Beside the data, so that it comes along with it: a table of tags would be one more cache line to fetch.
const TAG_BYTES: usize = 64;
