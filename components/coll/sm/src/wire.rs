//! What lies where in the lines of a communicator of `n` ranks. Offsets in bytes, all zeros at first:
//!
//! | offset | bytes | what | who writes |
//! |---|---|---|---|
//! | 0 | 64 | pair: rank d's {flag u64, value of up to 8 bytes} of parity p at 32 d + 16 p; two ranks only | rank d |
//! | 64 | 8 | departed: how many ranks will never look here again | each rank once |
//! | 128 | every T | turn t = 0 … TURNS - 1, as below | |
//! | A | area | data of rank r in area a = 0 … AREAS - 1 at A + (a (n + 1) + r) area; r = n: the result | rank r; who came last |
//!
//! A turn, T = 64 ⌈(n + 1) / 8⌉ + 64 bytes:
//!
//! | offset | bytes | what | who writes |
//! |---|---|---|---|
//! | 0 | 8 | count: how many ranks have come, ever | each rank |
//! | 8 + 8 r | 8 | data of rank r, if it is no more than that: it comes along with the count | rank r |
//! | T - 64 | 8 | release: number of the operation whose data is there | who came last, or the root |
//! | T - 56 | 56 | the result, or the root's data, if it is no more than that: it comes along with the release | as the release |
//!
//! Operations are numbered from 1; operation s has turn s mod TURNS and area s mod AREAS, or with two ranks parity s mod 2,
//! which is the area, too.
//!
//! The rings of a communicator are a part of their own; two for each rank, i = 0 for what goes in, 1 for results:
//!
//! | offset | bytes | what | who writes |
//! |---|---|---|---|
//! | 0 | 8 | departed, as above | each rank once |
//! | 64 + 128 (i n + r) | 8 | posted: steps that rank r has written | rank r |
//! | 72 + 128 (i n + r) | 32 | a u32 for each slot: bytes of the operation that began there | rank r |
//! | 128 + 128 (i n + r) | 8 | taken: steps of which rank r reads nothing any more | rank r |
//! | D0 | | slot s of rank r's ring 0 at D0 + (r SLOTS + s) S0 | rank r |
//! | D1 | | the same of ring 1, with slots of S1 bytes | rank r |
//!
//! D0 is the end of the words, rounded up to a page, D1 the end of rings 0. S0 is SLOT_BYTES; of a result each rank has only a
//! part, S1 = SLOT_BYTES / (n - 1), rounded up to a line. Steps are numbered from 0 in each ring; step t has slot t mod SLOTS.

/// Turns: how far a rank may be ahead of another in operations that do not make it wait.
pub const TURNS: usize = 32;
/// The same for operations whose data lies in areas.
pub const AREAS: usize = 8;
/// Where the number of ranks that left is.
pub const DEPARTED: usize = 64;
/// Bytes that must be zero before the lines are used.
pub const fn head_bytes(ranks: usize) -> usize {
    TURNS_AT + TURNS * turn_bytes(ranks)
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

/// Slots of a ring.
pub const SLOTS: usize = 8;
/// Bytes of a slot for what goes in.
pub const SLOT_BYTES: usize = 8 << 10;
/// Where the number of ranks that left the rings is.
pub const RINGS_DEPARTED: usize = 0;

/// Bytes of the rings that must be zero before they are used.
pub const fn rings_head_bytes(ranks: usize) -> usize {
    posted(RINGS, 0, ranks)
}

/// Bytes of a communicator's rings.
pub const fn rings_bytes(ranks: usize) -> usize {
    slot(RINGS - 1, ranks, 0, ranks)
}

/// Offset of how many steps a rank has written in a ring.
#[inline(always)]
pub const fn posted(ring: usize, rank: usize, ranks: usize) -> usize {
    64 + (ring * ranks + rank) * 128
}

/// Offset of the word with a slot's label, and the place of its 32 bits there.
#[inline(always)]
pub const fn label(ring: usize, rank: usize, slot: usize, ranks: usize) -> (usize, u32) {
    (posted(ring, rank, ranks) + 8 + slot / 2 * 8, slot as u32 % 2 * 32)
}

/// Offset of how many steps of a ring a rank has done with.
#[inline(always)]
pub const fn taken(ring: usize, rank: usize, ranks: usize) -> usize {
    posted(ring, rank, ranks) + 64
}

/// Offset of a slot.
#[inline(always)]
pub const fn slot(ring: usize, rank: usize, slot: usize, ranks: usize) -> usize {
    let first = rings_head_bytes(ranks).next_multiple_of(4096);
    let before = if ring == 0 { 0 } else { ranks * SLOTS * SLOT_BYTES };
    first + before + (rank * SLOTS + slot) * slot_bytes(ring, ranks)
}

/// Bytes of a slot.
#[inline(always)]
pub const fn slot_bytes(ring: usize, ranks: usize) -> usize {
    if ring == 0 { SLOT_BYTES } else { (SLOT_BYTES / (ranks - 1)).next_multiple_of(64) }
}

/// Rings of a rank.
pub const RINGS: usize = 2;
