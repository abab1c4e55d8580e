//! What lies where in the lines of a communicator of `n` ranks. Offsets in bytes, all zeros at first:
//!
//! | offset | bytes | what | who writes |
//! |---|---|---|---|
//! | 0 | 64 | pair: rank d's {flag u64, value of up to 8 bytes} of parity p at 32 d + 16 p; two ranks only | rank d |
//! | 64 | 8 | departed: how many ranks will never look here again | each rank once |
//! | 128 | every T | turn t = 0 … TURNS - 1, as below | |
//! | C | every 64, 8 of them | cores i = 0 … n - 2: how many ranks that share it have come where all wait for all, ever | each of them |
//! | B | every 64 | come t n + r, with more than two ranks, as below | rank r |
//! | A | area | data of rank r in area a = 0 … AREAS - 1 at A + (a (n + 1) + r) area; r = n: the result | rank r; who came last |
//!
//! A turn, T = 64 ⌈(n + 1) / 8⌉ + 64 bytes:
//!
//! | offset | bytes | what | who writes |
//! |---|---|---|---|
//! | 0 | 8 | count: how many ranks, or cores that they share, have come, ever | each rank, or the last of a core |
//! | 8 + 8 r | 8 | data of rank r, if it is no more than that: it comes along with the count | rank r |
//! | T - 64 | 8 | release: number of the operation whose data is there | who came last, or the root |
//! | T - 56 | 56 | the result, or the root's data, if it is no more than that: it comes along with the release | as the release |
//!
//! In a come, what rank r has for those behind it in operations of turn t:
//!
//! | offset | bytes | what |
//! |---|---|---|
//! | 0 | 8 | number of the last such operation whose data is there |
//! | 8 | 56 | the data, if it is no more than that |
//!
//! Operations are numbered from 1; operation s has turn s mod TURNS and area s mod AREAS, or with two ranks parity s mod 2,
//! which is the area, too.
//!
//! The rings of a communicator are a part of their own; two for each of n ranks, i = 0 for what goes in, 1 for results:
//!
//! | offset | bytes | what | who writes |
//! |---|---|---|---|
//! | 0 | 8 | departed, as above | each rank once |
//! | 64 + 128 (i n + r) | 8 | posted: steps that rank r has written | rank r |
//! | 128 + 128 (i n + r) | 8 | taken: steps of which rank r reads nothing any more | rank r |
//! | D0 | | slot s of rank r's ring 0 at D0 + (r N + s) (64 + S0) | rank r |
//! | D1 | | the same of ring 1, with slots of S1 bytes | rank r |
//!
//! D0 is the end of the words, rounded up to a page, D1 the end of rings 0. There are N slots in a ring; of a result each rank
//! has only a part, S1 = S0 / (n - 1), rounded up to a line. A slot begins with a line of its own, whose first 8 bytes say how
//! many bytes the operation that began there moves. Steps are numbered from 0 in each ring; step t has slot t mod N.

/// Turns: how far a rank may be ahead of another in operations that do not make it wait.
pub const TURNS: usize = if cfg!(loom) { 5 } else { 32 };
/// The same for operations whose data lies in areas.
pub const AREAS: usize = if cfg!(loom) { 3 } else { 8 };
/// Where the number of ranks that left is.
pub const DEPARTED: usize = 64;
/// Bytes that must be zero before the lines are used.
pub const fn head_bytes(ranks: usize) -> usize {
    if ranks == 2 { core(1, 2) } else { come(TURNS, 0, ranks) }
}

/// Offset of how far a rank has come that others behind it wait for; its data of at most [`BESIDE_BYTES`] is 8 bytes on.
#[inline(always)]
pub const fn come(turn: usize, rank: usize, ranks: usize) -> usize {
    core(ranks - 1, ranks) + (turn * ranks + rank) * 64
}

/// Offset of the count of those who share a core.
#[inline(always)]
pub const fn core(index: usize, ranks: usize) -> usize {
    TURNS_AT + TURNS * turn_bytes(ranks) + index * 64
}

/// Offset of a rank's flag with two ranks; its value is in the 8 bytes behind it.
#[inline(always)]
pub const fn flag(rank: usize, parity: usize) -> usize {
    rank * 32 + parity * 16
}

/// Offset of a turn's count.
#[inline(always)]
pub const fn count(turn: usize, ranks: usize) -> usize {
    TURNS_AT + turn * turn_bytes(ranks)
}

/// Offset of a rank's data of at most [`TINY_BYTES`].
#[inline(always)]
pub const fn tiny(turn: usize, rank: usize, ranks: usize) -> usize {
    count(turn, ranks) + 8 + rank * TINY_BYTES
}

/// Offset of a turn's release word.
#[inline(always)]
pub const fn release(turn: usize, ranks: usize) -> usize {
    count(turn + 1, ranks) - 64
}

/// Offset of one rank's data for all of at most [`BESIDE_BYTES`].
#[inline(always)]
pub const fn beside(turn: usize, ranks: usize) -> usize {
    release(turn, ranks) + 8
}

/// Bytes of one rank's data in one area: the most that it can contribute. Two ranks exchange messages of 256 bytes as fast,
/// and longer ones up to a third faster.
#[inline(always)]
pub const fn area_bytes(ranks: usize) -> usize {
    if ranks == 2 { 64 } else { 4 << 10 }
}

/// Offset of a rank's data.
#[inline(always)]
pub const fn area(index: usize, rank: usize, ranks: usize) -> usize {
    head_bytes(ranks) + (index * (ranks + 1) + rank) * area_bytes(ranks)
}

/// Bytes of a communicator's lines. Two ranks take turns with two parities and need no place for a result.
pub const fn bytes(ranks: usize) -> usize {
    if ranks == 2 { area(1, 2, 2) } else { area(AREAS, 0, ranks) }
}

const fn turn_bytes(ranks: usize) -> usize {
    (8 + ranks * TINY_BYTES).next_multiple_of(64) + 64
}

/// What lies beside a count for each rank.
pub const TINY_BYTES: usize = 8;
/// What lies beside a release word.
pub const BESIDE_BYTES: usize = 56;
const TURNS_AT: usize = 128;

/// Where the number of ranks that left the rings is.
pub const RINGS_DEPARTED: usize = 0;
/// Rings of a rank.
pub const RINGS: usize = 2;
/// The fewest slots of a ring.
pub const SLOTS_LEAST: usize = 8;

/// How large the rings of one communicator are, equal on all its ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Number of ranks.
    pub ranks: usize,
    /// Slots of a ring.
    pub slots: usize,
    /// Bytes of a slot for what goes in, a multiple of 64.
    pub slot_bytes: usize,
}

impl Extent {
    /// Bytes that must be zero before the rings are used.
    pub const fn head_bytes(&self) -> usize {
        self.posted(RINGS, 0)
    }

    /// Bytes of all.
    pub const fn bytes(&self) -> usize {
        self.slots_of(RINGS - 1).label(self.ranks, 0)
    }

    /// Offset of how many steps a rank has written in a ring.
    #[inline(always)]
    pub const fn posted(&self, ring: usize, rank: usize) -> usize {
        64 + (ring * self.ranks + rank) * 128
    }

    /// Offset of how many steps of a ring a rank has done with.
    #[inline(always)]
    pub const fn taken(&self, ring: usize, rank: usize) -> usize {
        self.posted(ring, rank) + 64
    }

    /// Where the slots of a ring are.
    pub const fn slots_of(&self, ring: usize) -> Slots {
        let bytes = self.slot_bytes(ring);
        let before = if ring == 0 { 0 } else { self.ranks * self.slots * (LABEL_BYTES + self.slot_bytes(0)) };
        let first = self.head_bytes().next_multiple_of(4096) + before;
        Slots { first, apart: self.slots * (LABEL_BYTES + bytes), bytes }
    }

    const fn slot_bytes(&self, ring: usize) -> usize {
        if ring == 0 { self.slot_bytes } else { (self.slot_bytes / (self.ranks - 1)).next_multiple_of(64) }
    }
}

/// Where the slots of one ring are, of each rank: reckoned once, since each step of an operation asks.
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
        self.label(rank, slot) + LABEL_BYTES
    }

    /// Offset of the word before a slot's data.
    #[inline(always)]
    pub const fn label(&self, rank: usize, slot: usize) -> usize {
        self.first + rank * self.apart + slot * (LABEL_BYTES + self.bytes)
    }
}

// Beside the data, so that it comes along with it: a table of labels would be one more line to fetch.
const LABEL_BYTES: usize = 64;
