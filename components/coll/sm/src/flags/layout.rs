//! The layout of the segment of a communicator of `n` ranks. Offsets in bytes, all zeros at first:
//!
//! | offset | bytes | content | writer |
//! |---|---|---|---|
//! | 0 | 64 | pair flags: rank d's {epoch u64, value of up to 8 bytes} of parity p at 32 d + 16 p; two ranks only | rank d |
//! | 64 | 8 | detach count: how many ranks will never access the segment again | each rank once |
//! | 128 | every F | flag set f = 0 … FLAG_SETS - 1, as below | |
//! | C | every 64, 8 of them | core counter i = 0 … n - 2: arrivals of the ranks that share a core, in all-to-all epochs | each of them |
//! | R | every 64 | flag of rank r in flag set f, f n + r, with more than two ranks, as below | rank r |
//! | M | every 64 | meeting flag of rank r in all-to-all epochs, p n + r for the parity p of their number, likewise | rank r |
//! | D | data slot | data slot of rank r in set a = 0 … DATA_SLOTS - 1 at D + (a (n + 1) + r) slot; r = n: the result | rank r; the last to come |
//!
//! A flag set, F = 64 ⌈(n + 1) / 8⌉ + 64 bytes:
//!
//! | offset | bytes | content | writer |
//! |---|---|---|---|
//! | 0 | 8 | arrival counter, of ranks or of the cores that they share; never reset | each rank, or the last of a core |
//! | 8 + 8 r | 8 | counter-inline data of rank r: it comes along with the counter's line | rank r |
//! | F - 64 | 8 | release word: number of the epoch whose data is complete | the last to come, or the root |
//! | F - 56 | 56 | flag-inline data, of the root or the result: it comes along with the release word | as the release word |
//!
//! A rank's flag, which others poll:
//!
//! | offset | bytes | content |
//! |---|---|---|
//! | 0 | 8 | number of the last epoch in which its data is complete |
//! | 8 | 56 | flag-inline data |
//!
//! Epochs are numbered from 1. Epoch e has flag set e mod FLAG_SETS and data slots e mod DATA_SLOTS. With two ranks it has
//! parity e mod 2, for its flags and for its data slots.

/// Flag sets: so many epochs may be under way among ranks that do not wait for each other.
pub const FLAG_SETS: usize = if cfg!(loom) { 5 } else { 32 };
/// Data slots of a rank: the same for epochs whose data is not inline.
pub const DATA_SLOTS: usize = if cfg!(loom) { 3 } else { 8 };
/// Offset of the detach count.
pub const DETACH_COUNT: usize = 64;
/// Bytes that must be zero before the segment is used.
pub const fn head_bytes(ranks: usize) -> usize {
    if ranks == 2 { core_counter(1, 2) } else { meeting_flag(2, 0, ranks) }
}

/// Offset of a rank's flag in a flag set; its data of at most [`FLAG_INLINE_BYTES`] is 8 bytes on.
#[inline(always)]
pub const fn rank_flag(set: usize, rank: usize, ranks: usize) -> usize {
    core_counter(ranks - 1, ranks) + (set * ranks + rank) * RANK_FLAG_BYTES
}

/// Offset of a rank's flag in the all-to-all epochs of one parity, likewise.
#[inline(always)]
pub const fn meeting_flag(parity: usize, rank: usize, ranks: usize) -> usize {
    rank_flag(FLAG_SETS, 0, ranks) + (parity * ranks + rank) * RANK_FLAG_BYTES
}

/// Offset of the arrival counter of the ranks that share a core.
#[inline(always)]
pub const fn core_counter(index: usize, ranks: usize) -> usize {
    FLAG_SETS_AT + FLAG_SETS * flag_set_bytes(ranks) + index * 64
}

/// Offset of a rank's flag with two ranks; its value is in the 8 bytes behind it.
#[inline(always)]
pub const fn pair_flag(rank: usize, parity: usize) -> usize {
    rank * 32 + parity * 16
}

/// Offset of a flag set's arrival counter.
#[inline(always)]
pub const fn counter(set: usize, ranks: usize) -> usize {
    FLAG_SETS_AT + set * flag_set_bytes(ranks)
}

/// Offset of a rank's data of at most [`COUNTER_INLINE_BYTES`].
#[inline(always)]
pub const fn counter_inline(set: usize, rank: usize, ranks: usize) -> usize {
    counter(set, ranks) + 8 + rank * COUNTER_INLINE_BYTES
}

/// Offset of a flag set's release word.
#[inline(always)]
pub const fn release(set: usize, ranks: usize) -> usize {
    counter(set + 1, ranks) - 64
}

/// Offset of one rank's data for all of at most [`FLAG_INLINE_BYTES`].
#[inline(always)]
pub const fn flag_inline(set: usize, ranks: usize) -> usize {
    release(set, ranks) + 8
}

/// Bytes of a data slot: the most that a rank can contribute. Two ranks exchange messages of 256 bytes as fast, and longer ones
/// up to a third faster.
#[inline(always)]
pub const fn slot_bytes(ranks: usize) -> usize {
    if ranks == 2 { 64 } else { 4 << 10 }
}

/// Offset of a rank's data slot.
#[inline(always)]
pub const fn data_slot(index: usize, rank: usize, ranks: usize) -> usize {
    head_bytes(ranks) + (index * (ranks + 1) + rank) * slot_bytes(ranks)
}

/// Bytes of a communicator's segment. Two ranks have two parities and need no slot for a result.
pub const fn bytes(ranks: usize) -> usize {
    if ranks == 2 { data_slot(1, 2, 2) } else { data_slot(DATA_SLOTS, 0, ranks) }
}

const fn flag_set_bytes(ranks: usize) -> usize {
    (8 + ranks * COUNTER_INLINE_BYTES).next_multiple_of(64) + 64
}

/// Bytes of each rank beside an arrival counter.
pub const COUNTER_INLINE_BYTES: usize = 8;
/// Bytes of a rank's flag and its data: one line, which nobody else writes.
pub const RANK_FLAG_BYTES: usize = 64;
/// Bytes beside a release word or a rank's flag.
pub const FLAG_INLINE_BYTES: usize = 56;
const FLAG_SETS_AT: usize = 128;
