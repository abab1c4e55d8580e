//! More than two ranks with flags of their own: reductions of a word, which lies beside each flag.
//!
//! Neighbors are combined in pairs, all pairs in one go, then the sums likewise: four calls of the operation for 16 ranks instead of 15.

use crate::buffer::lies_packed;
use crate::flags::epoch::Epoch;
use crate::raw::{load, load_run};
use core::ops::Range;
use ompi_core::data::Data;
use ompi_core::error::Result;
use ompi_core::executor::Executor;
use ompi_core::op::Op;

/// Whether each rank's operand is such a word.
#[inline(always)]
pub fn serves(epoch: &Epoch<'_>, like: &Data<'_>) -> bool {
    epoch.has_rank_flags()
        && epoch.is_inline()
        && epoch.size() <= MOST_RANKS
        && matches!(like.bytes(), 4 | 8)
        && lies_packed(like)
}

/// Combines the words of these ranks, for which the caller has waited, in rank order into `to`.
pub fn combine(
    epoch: &Epoch<'_>,
    executor: &mut dyn Executor,
    (ranks, to): (Range<usize>, &Data<'_>),
    op: &Op,
) -> Result<()> {
    let bytes = to.bytes();
    let (mut firsts, mut seconds) = (Words::new(bytes), Words::new(bytes));
    let mut left = ranks.len();
    if left == 0 {
        return Ok(());
    }
    // The first operand of each pair, and the second one. Without a first one the last operand waits for the next round.
    for (index, rank) in ranks.enumerate() {
        let half = if index % 2 == 0 && index + 1 < left { &mut firsts } else { &mut seconds };
        load_run(executor, epoch.slot(rank), half.place(index / 2), bytes)?;
    }
    while left > 1 {
        let pairs = left / 2;
        executor.reduce(op, &firsts.operand(to, pairs), &seconds.operand(to, pairs))?;
        left = left.div_ceil(2);
        for index in 0..left {
            let word = seconds.get(index);
            let half = if index % 2 == 0 && index + 1 < left { &mut firsts } else { &mut seconds };
            half.set(index / 2, word);
        }
    }
    load(executor, seconds.operand(to, 1).at, to)
}

// Operands of four or eight bytes, one after the other.
struct Words {
    bytes: usize,
    all: [u64; MOST_RANKS / 2 + 1],
}

impl Words {
    #[inline(always)]
    fn new(bytes: usize) -> Words {
        Words { bytes, all: [0; MOST_RANKS / 2 + 1] }
    }

    #[inline(always)]
    fn set(&mut self, index: usize, word: u64) {
        match self.bytes {
            8 => self.all[index] = word,
            _ => {
                let shift = index % 2 * 32;
                let other = self.all[index / 2] & !(u64::from(u32::MAX) << shift);
                self.all[index / 2] = other | u64::from(word as u32) << shift;
            }
        }
    }

    #[inline(always)]
    fn get(&self, index: usize) -> u64 {
        match self.bytes {
            8 => self.all[index],
            _ => self.all[index / 2] >> (index % 2 * 32) & u64::from(u32::MAX),
        }
    }

    #[inline(always)]
    fn place(&mut self, index: usize) -> *mut u8 {
        self.all.as_mut_ptr().cast::<u8>().wrapping_add(index * self.bytes)
    }

    /// The first ones, as elements of this type.
    #[inline(always)]
    fn operand<'a>(&mut self, like: &Data<'a>, words: usize) -> Data<'a> {
        Data { at: self.place(0), count: words * like.count, ..*like }
    }
}

const MOST_RANKS: usize = 16;

#[cfg(all(test, not(loom)))]
mod tests {
    use super::Words;
    use alloc::vec::Vec;

    #[test]
    fn words_keep_their_places() {
        for bytes in [4, 8] {
            let mut words = Words::new(bytes);
            (0..9).rev().for_each(|index| words.set(index, 0x8000_0001 + index as u64));
            words.set(4, 7);
            let all: Vec<u64> = (0..9).map(|index| words.get(index)).collect();
            assert_eq!(all, (0..9).map(|index| if index == 4 { 7 } else { 0x8000_0001 + index }).collect::<Vec<_>>());
        }
    }
}
