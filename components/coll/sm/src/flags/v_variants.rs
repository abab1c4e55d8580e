//! Blocks of different lengths, over turns of more than two ranks.

use crate::flags::data_movement::{contribution, packed, place};
use crate::flags::epoch::Turn;
use crate::flags::layout as wire;
use crate::raw::{copy, load, store};
use alloc::format;
use ompi_core::data::{Blocks, Data, Source, TypedBlocks};
use ompi_core::error::{Class, Fault, Result};
use ompi_core::executor::Executor;

/// Blocks by rank, of one datatype or of one each.
#[derive(Clone, Copy)]
pub enum Several<'a> {
    /// MPI_Alltoallv.
    Alike(&'a Blocks<'a>),
    /// MPI_Alltoallw.
    Typed(&'a TypedBlocks<'a>),
}

impl<'a> Several<'a> {
    /// The block of a rank.
    pub fn block(&self, rank: usize) -> Data<'a> {
        match self {
            Several::Alike(blocks) => blocks.block(rank),
            Several::Typed(blocks) => blocks.block(rank),
        }
    }
}

/// Bytes of the longest block.
pub fn longest(blocks: &Blocks<'_>, ranks: usize) -> usize {
    let most = (0..ranks).map(|rank| blocks.counts.count(rank)).max().unwrap_or(0);
    most.saturating_mul(blocks.datatype.layout.size())
}

/// MPI_Allgatherv, whose lengths all know.
pub fn allgather(turn: &Turn<'_>, executor: &mut dyn Executor, from: Source<'_>, to: &Blocks<'_>) -> Result<()> {
    let (rank, size) = (turn.rank(), turn.size());
    let mine = to.block(rank);
    let mut done = store(executor, &contribution(from, mine), turn.own(), mine.bytes());
    turn.post();
    if let Source::From(from) = from {
        done = done.and(copy(executor, &from, &mine));
    }
    turn.wait()?;
    for peer in others(rank, size) {
        done = done.and(load(executor, turn.of(peer), &to.block(peer)));
    }
    done
}

/// An MPI_Alltoallv or MPI_Alltoallw of which all ranks have told how long their blocks are.
pub struct Told<'a> {
    turn: Turn<'a>,
    to: Several<'a>,
    /// Bytes of the longest block that anybody has for another rank; equal on all ranks, as is what follows.
    pub longest: usize,
    /// Bytes of all of them.
    pub all: usize,
}

impl<'a> Told<'a> {
    /// Tells how long this rank's blocks for the others are, with what is in them as far as it is short, and waits until all
    /// have. Each rank writes [`wire::area_bytes`] in this turn.
    pub fn tell(turn: Turn<'a>, executor: &mut dyn Executor, from: Several<'_>, to: Several<'a>) -> Result<Told<'a>> {
        let (rank, size) = (turn.rank(), turn.size());
        let (mut longest, mut all, mut stored) = (0, 0usize, Ok(()));
        for peer in others(rank, size) {
            let (block, slot) = (from.block(peer), slot(peer, rank, size));
            let bytes = block.bytes();
            (longest, all) = (bytes.max(longest), all.saturating_add(bytes));
            turn.set_word(slot, bytes as u64);
            if bytes > 0 && bytes <= room(size) {
                stored = stored.and(store(executor, &block, turn.own().wrapping_add(8 * (slot + 1)), bytes));
            }
        }
        turn.set_word(LONGEST, longest as u64);
        turn.set_word(ALL, all as u64);
        turn.meet()?;
        let word = |rank, index| usize::try_from(turn.word(rank, index)).unwrap_or(usize::MAX);
        longest = (0..size).map(|rank| word(rank, LONGEST)).max().unwrap_or(0);
        all = (0..size).map(|rank| word(rank, ALL)).fold(0, usize::saturating_add);
        stored.map(|()| Told { turn, to, longest, all })
    }

    /// Whether all blocks came along.
    pub fn is_short(&self) -> bool {
        self.longest <= room(self.turn.size())
    }

    /// Whether so much of the longest blocks' bytes is data that all may go in as many steps as these need.
    pub fn is_even(&self) -> bool {
        let pairs = self.turn.size() * (self.turn.size() - 1);
        self.all >= self.longest.saturating_mul(pairs) / 2
    }

    /// How much of this rank's target a peer's block fills. `Err(Truncate)` if there is more of it.
    pub fn arriving(&self, peer: usize) -> Result<usize> {
        let rank = self.turn.rank();
        let (told, wanted) = (self.turn.word(peer, slot(rank, peer, self.turn.size())), self.to.block(peer).bytes());
        match usize::try_from(told) {
            Ok(bytes) if bytes <= wanted => Ok(bytes),
            _ => Err(Fault::new(Class::Truncate).because(format!(
                "rank {peer} sends {told} bytes to rank {rank}, which receives no more than {wanted} from it"
            ))),
        }
    }

    /// Takes what came along, if that is all of it. Also after an error: what is there is there.
    pub fn take(&self, executor: &mut dyn Executor) -> Result<()> {
        let (rank, size) = (self.turn.rank(), self.turn.size());
        let mut done = Ok(());
        for peer in others(rank, size) {
            let at = self.turn.of(peer).wrapping_add(8 * (slot(rank, peer, size) + 1));
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

fn others(rank: usize, size: usize) -> impl Iterator<Item = usize> {
    (0..size).filter(move |peer| *peer != rank)
}

// Words of an area: the longest block, all of them, and for each of the others how many bytes there are, with the data
// behind if there is room.
const LONGEST: usize = 0;
const ALL: usize = 1;
const SLOTS: usize = 2;

#[inline(always)]
fn slot(reader: usize, writer: usize, ranks: usize) -> usize {
    SLOTS + place(reader, writer) * slot_words(ranks)
}

/// Bytes of a block for which there is room.
const fn room(ranks: usize) -> usize {
    8 * (slot_words(ranks) - 1)
}

const fn slot_words(ranks: usize) -> usize {
    (wire::area_bytes(ranks) / 8 - SLOTS) / (ranks - 1)
}

/// Whether there is a slot for each rank.
pub const fn has_room(ranks: usize) -> bool {
    slot_words(ranks) > 1
}
