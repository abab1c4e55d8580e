//! The words of one window, by rank.

use super::layout::{Layout, WORD};
use super::shared_by_all::LockWords;
use super::ticket::Ticket;
use crate::error::Result;
use crate::win::Combining;
use crate::win::gate::Gate;
use alloc::sync::Arc;
use opal_core::shareable::Joint;
use opal_core::sync::AtomicU64;
use opal_core::sys::{Mapping, Place};

/// Shared memory with its layout.
pub struct Words {
    layout: Layout,
    mapping: Arc<Mapping>,
    ranks: usize,
    me: usize,
    by_instruction: usize,
}

impl Words {
    /// Of a mapping that is as long as the layout says, for one of so many ranks.
    pub fn new(layout: Layout, mapping: Mapping, me: usize, ranks: usize) -> Words {
        Words { layout, mapping: Arc::new(mapping), ranks, me, by_instruction: BY_INSTRUCTION }
    }

    /// Follows the hint mpi_accumulate_granularity: who wants memory to be held by so few bytes wants no lock for many elements.
    pub fn with_granularity(self, bytes: u64) -> Words {
        let wants_instructions = (1..=WORD as u64).contains(&bytes);
        Words { by_instruction: if wants_instructions { usize::MAX } else { BY_INSTRUCTION }, ..self }
    }

    /// Where a process's part lies, and its length.
    pub fn part(&self, rank: usize) -> (*mut u8, usize) {
        let (offset, bytes) = self.layout.part(rank);
        (self.mapping.place(offset, bytes), bytes)
    }

    /// The address of the first word.
    pub fn base(&self) -> u64 {
        self.mapping.place(0, 0).addr() as u64
    }

    /// Lets messages find the parts by their addresses, while this lives; `others` say where the other processes' heaps are, and where they have
    /// the first word.
    pub fn join(&self, others: impl Iterator<Item = (Place, u64)>) -> Joint {
        let (offset, bytes) = self.layout.parts();
        let others = others.map(|(place, base)| (place, base.wrapping_add(offset as u64))).collect();
        Joint::new(self.mapping.clone(), offset, bytes, others)
    }

    /// The rank that has it alone, plus 1; 0 if nobody has. For people: it changes beside the lock.
    pub fn holder(&self, rank: usize) -> &AtomicU64 {
        self.mapping.word(self.layout.holder(rank))
    }

    /// Through which accumulates go that instructions do.
    pub fn gate(&self) -> Gate<'_> {
        Gate::new(self.mapping.word(self.layout.gate()), self.mapping.word(self.layout.inside(self.me)))
    }

    /// How many elements of an accumulate instructions do.
    pub fn by_instruction(&self) -> usize {
        self.by_instruction
    }

    /// Holds the accumulate lock of a process's memory, the gate being shut.
    pub fn combine_alone(&self, rank: usize) -> Result<Combining<'_>> {
        self.gate().shut((0..self.ranks).map(|rank| self.mapping.word(self.layout.inside(rank))))?;
        Ok(Combining::begin(self.accumulate_lock(rank)))
    }

    /// Not 0 while somebody combines.
    pub fn accumulate_lock(&self, rank: usize) -> &AtomicU64 {
        self.mapping.word(self.layout.accumulate_lock(rank))
    }

    /// Three words that a process tells the others of itself, while the window lives.
    pub fn notice(&self, rank: usize) -> [&AtomicU64; 3] {
        [0, 1, 2].map(|number| self.mapping.word(self.layout.notice(rank) + number * WORD))
    }

    /// How often a target has posted for an origin.
    pub fn posts(&self, target: usize, origin: usize) -> &AtomicU64 {
        self.mapping.word(self.layout.posts(target, origin))
    }

    /// How often an origin has completed for a target.
    pub fn completes(&self, origin: usize, target: usize) -> &AtomicU64 {
        self.mapping.word(self.layout.completes(origin, target))
    }
}

impl LockWords for Words {
    fn ranks(&self) -> usize {
        self.ranks
    }

    fn ticket(&self, rank: usize) -> Ticket<'_> {
        let [next, may_share, may_own] =
            [0, 1, 2].map(|number| self.mapping.word(self.layout.lock(rank) + number * WORD));
        Ticket { next, may_share, may_own }
    }

    fn shares_all(&self, rank: usize) -> &AtomicU64 {
        self.mapping.word(self.layout.shares_all(rank))
    }

    fn asked(&self) -> &AtomicU64 {
        self.mapping.word(self.layout.asked())
    }
}

/// One locked instruction takes as long as the lock and a few elements that are combined under it (AMD EPYC: 5 ns; a lock with 1024
/// doubles 50).
const BY_INSTRUCTION: usize = 4;
