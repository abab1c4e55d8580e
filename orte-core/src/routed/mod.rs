//! routed: the tree along which mpirun and the daemons of other hosts send their messages.
//!
//! | file | what |
//! |---|---|
//! | here | [`Tree`]: who is whose parent |
//! | [`envelope`] | where a frame is to go, before its own bytes |
//! | [`router`] | what a node does with an envelope that came from a neighbour |
//!
//! Node 0 is mpirun. A daemon speaks with the one that started it and with those that it starts. Messages between mpirun and a
//! daemon pass through the daemons between them, which do not read them.
//!
//! **Invariant:** pure. mpirun, the daemons and the simulator (`benches/launch`) run the same code.

pub mod envelope;
pub mod router;

pub use envelope::Way;
pub use router::{Routed, Router};

use core::ops::Range;

/// A tree of nodes: each has at most `radix` children, and they stand behind it, level by level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tree {
    /// How many there are, mpirun's own among them.
    pub nodes: u32,
    /// How many children one has at most; 0: all others are children of node 0.
    pub radix: u32,
}

/// The next node on the way to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hop {
    /// It is this one.
    Here,
    /// Through the parent.
    Up,
    /// Through this child.
    Down(u32),
}

impl Tree {
    /// The parent of a node; none of node 0.
    pub fn parent(&self, node: u32) -> Option<u32> {
        Some(node.checked_sub(1)?.checked_div(self.radix).unwrap_or(0))
    }

    /// The children of a node.
    pub fn children(&self, node: u32) -> Range<u32> {
        let all = u64::from(self.nodes);
        let (first, behind) = match (self.radix, node) {
            (0, 0) => (1, all),
            (0, _) => (all, all),
            (radix, _) => {
                let first = u64::from(node) * u64::from(radix) + 1;
                (first, first + u64::from(radix))
            }
        };
        first.min(all) as u32..behind.min(all) as u32
    }

    /// Whether a node is this one or stands below it.
    pub fn holds(&self, top: u32, node: u32) -> bool {
        node < self.nodes && self.hop(top, node) != Hop::Up
    }

    /// The way from one node to another one.
    pub fn hop(&self, from: u32, to: u32) -> Hop {
        if from == to {
            return Hop::Here;
        }
        let mut at = to;
        // Parents have lower numbers.
        while at > from {
            match self.parent(at) {
                Some(parent) if parent == from => return Hop::Down(at),
                Some(parent) => at = parent,
                None => break,
            }
        }
        Hop::Up
    }

    /// A node's nodes below, without itself.
    pub fn below(&self, top: u32) -> impl Iterator<Item = u32> + '_ {
        (top + 1..self.nodes).filter(move |node| self.holds(top, *node))
    }
}

#[cfg(test)]
mod tests;
