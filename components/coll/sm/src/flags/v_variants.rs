//! MPI_Allgatherv, MPI_Alltoallv and MPI_Alltoallw through the segment, of more than two ranks.
//!
//! In MPI_Alltoallv and MPI_Alltoallw each rank knows only its own lengths: all ranks exchange them first, and short blocks
//! come along.

use crate::buffer::{VBlocks, block_index, contribution, others, packed};
use crate::flags::epoch::Epoch;
use crate::flags::layout;
use crate::raw::{copy, load, store};
use alloc::format;
use ompi_core::data::{Blocks, Source};
use ompi_core::error::{Class, Fault, Result};
use ompi_core::executor::Executor;

/// MPI_Allgatherv: all ranks know all lengths.
pub fn allgather(epoch: &Epoch<'_>, executor: &mut dyn Executor, from: Source<'_>, to: &Blocks<'_>) -> Result<()> {
    let (rank, size) = (epoch.rank(), epoch.size());
    let mine = to.block(rank);
    let mut done = store(executor, &contribution(from, mine), epoch.own_slot(), mine.bytes());
    epoch.signal();
    if let Source::From(from) = from {
        done = done.and(copy(executor, &from, &mine));
    }
    epoch.wait()?;
    for peer in others(rank, size) {
        done = done.and(load(executor, epoch.slot(peer), &to.block(peer)));
    }
    done
}

/// An MPI_Alltoallv or MPI_Alltoallw after all ranks have exchanged the lengths of their blocks.
pub struct ExchangedLengths<'a> {
    epoch: Epoch<'a>,
    to: VBlocks<'a>,
    /// Bytes of the longest block for another rank; equal on all ranks.
    pub longest: usize,
    /// Bytes of all blocks for other ranks; equal on all ranks.
    pub all: usize,
}

impl<'a> ExchangedLengths<'a> {
    /// Writes the lengths of this rank's blocks for the others, and the data of those that are short, and waits until all ranks
    /// have done so. Each rank writes [`layout::slot_bytes`] in this epoch.
    pub fn exchange(
        epoch: Epoch<'a>,
        executor: &mut dyn Executor,
        from: VBlocks<'_>,
        to: VBlocks<'a>,
    ) -> Result<ExchangedLengths<'a>> {
        let (rank, size) = (epoch.rank(), epoch.size());
        let (mut longest, mut all, mut stored) = (0, 0usize, Ok(()));
        for peer in others(rank, size) {
            let (block, entry) = (from.block(peer), entry(peer, rank, size));
            let bytes = block.bytes();
            (longest, all) = (bytes.max(longest), all.saturating_add(bytes));
            epoch.set_word(entry, bytes as u64);
            if bytes > 0 && bytes <= entry_bytes(size) {
                stored = stored.and(store(executor, &block, epoch.own_slot().wrapping_add(8 * (entry + 1)), bytes));
            }
        }
        epoch.set_word(LONGEST, longest as u64);
        epoch.set_word(ALL, all as u64);
        epoch.barrier()?;
        let word = |rank, index| usize::try_from(epoch.word(rank, index)).unwrap_or(usize::MAX);
        longest = (0..size).map(|rank| word(rank, LONGEST)).max().unwrap_or(0);
        all = (0..size).map(|rank| word(rank, ALL)).fold(0, usize::saturating_add);
        stored.map(|()| ExchangedLengths { epoch, to, longest, all })
    }

    /// Whether the data of all blocks came along.
    pub fn is_short(&self) -> bool {
        self.longest <= entry_bytes(self.epoch.size())
    }

    /// Whether blocks are about equally long, so that all may go in as many steps as the longest one needs.
    pub fn is_even(&self) -> bool {
        let pairs = self.epoch.size() * (self.epoch.size() - 1);
        self.all >= self.longest.saturating_mul(pairs) / 2
    }

    /// Bytes of a peer's block for this rank. `Err(Truncate)` if its target is shorter.
    pub fn arriving(&self, peer: usize) -> Result<usize> {
        let rank = self.epoch.rank();
        let (sent, wanted) = (self.epoch.word(peer, entry(rank, peer, self.epoch.size())), self.to.block(peer).bytes());
        match usize::try_from(sent) {
            Ok(bytes) if bytes <= wanted => Ok(bytes),
            _ => Err(Fault::new(Class::Truncate).because(format!(
                "rank {peer} sends {sent} bytes to rank {rank}, whose receive buffer has room for {wanted} from that rank"
            ))),
        }
    }

    /// Copies the blocks that came along to their targets, each as far as it is good also after an error in another one.
    /// Only if [`ExchangedLengths::is_short`].
    pub fn take(&self, executor: &mut dyn Executor) -> Result<()> {
        let (rank, size) = (self.epoch.rank(), self.epoch.size());
        let mut done = Ok(());
        for peer in others(rank, size) {
            let at = self.epoch.slot(peer).wrapping_add(8 * (entry(rank, peer, size) + 1));
            done = done.and(self.arriving(peer).and_then(|bytes| {
                let block = self.to.block(peer);
                match bytes == block.bytes() {
                    true => load(executor, at, &block),
                    false => executor.copy(&packed(at, bytes), &block),
                }
            }));
        }
        done
    }
}

// Words of a slot: the longest block's bytes, all bytes, and an entry for each of the others: the length of its block, and the
// data behind if that is short enough.
const LONGEST: usize = 0;
const ALL: usize = 1;
const ENTRIES: usize = 2;

#[inline(always)]
fn entry(reader: usize, writer: usize, ranks: usize) -> usize {
    ENTRIES + block_index(reader, writer) * entry_words(ranks)
}

/// The longest block whose data comes along.
const fn entry_bytes(ranks: usize) -> usize {
    8 * (entry_words(ranks) - 1)
}

const fn entry_words(ranks: usize) -> usize {
    (layout::slot_bytes(ranks) / 8 - ENTRIES) / (ranks - 1)
}

/// Whether a slot has an entry for each rank.
pub const fn has_room(ranks: usize) -> bool {
    entry_words(ranks) > 1
}
