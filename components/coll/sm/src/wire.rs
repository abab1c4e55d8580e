//! What lies where in the lines of a communicator of `n` ranks. Offsets in bytes, all zeros at first:
//!
//! | offset | bytes | what | who writes |
//! |---|---|---|---|
//! | 0 | 64 | pair: rank d's {flag u64, value of up to 8 bytes} of parity p at 32 d + 16 p; two ranks only | rank d |
//! | 64 | 8 | departed: how many ranks will never look here again | each rank once |
//! | 128 | 8, every 128 | count of turn t: how many ranks have come, ever; t = 0 … TURNS - 1 | each rank |
//! | 192 | 8, every 128 | release of turn t: number of the operation whose data is there | who came last, or the root |
//! | A | area | data of rank r in turn t at A + (t (n + 1) + r) area; r = n: the result | rank r; who came last |
//!
//! Operations are numbered from 1; operation s has turn s mod TURNS, and parity s mod 2 with two ranks.

/// Turns: how far a rank may be ahead of another in operations that do not make it wait.
pub const TURNS: usize = 8;
/// Where the number of ranks that left is.
pub const DEPARTED: usize = 64;
/// Bytes that must be zero before the lines are used.
pub const HEAD_BYTES: usize = 128 + TURNS * 128;

/// Offset of a rank's flag with two ranks; its value is in the 8 bytes behind it.
#[inline(always)]
pub const fn flag(rank: usize, parity: usize) -> usize {
    rank * 32 + parity * 16
}

/// Offset of a turn's count.
#[inline(always)]
pub const fn count(turn: usize) -> usize {
    128 + turn * 128
}

/// Offset of a turn's release word.
#[inline(always)]
pub const fn release(turn: usize) -> usize {
    count(turn) + 64
}

/// Bytes of one rank's data in one turn: the most that it can contribute. Two ranks exchange
/// messages of more than this as fast.
#[inline(always)]
pub const fn area_bytes(ranks: usize) -> usize {
    if ranks == 2 { 64 } else { 1 << 10 }
}

/// Offset of a rank's data.
#[inline(always)]
pub const fn area(turn: usize, rank: usize, ranks: usize) -> usize {
    HEAD_BYTES + (turn * (ranks + 1) + rank) * area_bytes(ranks)
}

/// Bytes of a communicator's lines. Two ranks take turns with two parities and need no place for a result.
pub const fn bytes(ranks: usize) -> usize {
    let end = if ranks == 2 { area(1, 2, 2) } else { area(TURNS, 0, ranks) };
    end.next_multiple_of(64)
}
