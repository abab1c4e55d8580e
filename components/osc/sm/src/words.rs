//! Memory and words of one window, by rank.

use crate::layout::{Layout, WORD};
use crate::raw::{Mapping, Memory};
use crate::ticket::Ticket;
use alloc::boxed::Box;
use alloc::vec::Vec;
use opal_core::sync::AtomicU64;

/// The memory of a window with its layout.
pub struct Words {
    layout: Layout,
    mapping: Mapping,
    parts: Box<[Memory]>,
    // They hold the parts of a window over memory of the program's.
    _others: Vec<Mapping>,
}

impl Words {
    /// Of a mapping that is as long as the layout says.
    pub fn new(layout: Layout, mapping: Mapping) -> Words {
        let part = |rank| {
            let (offset, bytes) = layout.part(rank);
            Memory { at: mapping.place(offset, bytes), bytes }
        };
        let parts = (0..layout.ranks()).map(part).collect();
        Words { layout, mapping, parts, _others: Vec::new() }
    }

    /// With parts elsewhere, in mappings that live as long.
    pub fn over(self, parts: Box<[Memory]>, others: Vec<Mapping>) -> Words {
        Words { parts, _others: others, ..self }
    }

    /// Where a process's part lies, and its length.
    pub fn part(&self, rank: usize) -> (*mut u8, usize) {
        let Memory { at, bytes } = self.parts[rank];
        (at, bytes)
    }

    /// The passive lock of a process's memory.
    pub fn lock(&self, rank: usize) -> Ticket<'_> {
        let [next, may_share, may_own] =
            [0, 1, 2].map(|number| self.mapping.word(self.layout.lock(rank) + number * WORD));
        Ticket { next, may_share, may_own }
    }

    /// Not 0 while somebody combines.
    pub fn accumulate_lock(&self, rank: usize) -> &AtomicU64 {
        self.mapping.word(self.layout.accumulate_lock(rank))
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
