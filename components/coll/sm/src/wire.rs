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
