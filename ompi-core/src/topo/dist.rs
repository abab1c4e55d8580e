//! Graphs of which every process knows its neighbours. MPI 5.0 §8.5.4.
//!
//! Lists travel as words. Edges that other processes name are ordered by the rank of the process that names them, then
//! as it names them: the k-th edge of several between the same two processes is the same one at both ends.

use crate::error::{Class, Fault, Result};
use alloc::boxed::Box;
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

/// Neighbours on one side, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Side {
    /// The neighbours.
    pub ranks: Box<[i32]>,
    /// As many weights as ranks, or none (MPI_UNWEIGHTED).
    pub weights: Box<[i32]>,
}

impl Side {
    /// Checks ranks and weights of a communicator of `size`; `arguments` are their names.
    pub fn new(ranks: &[i32], weights: Option<&[i32]>, size: usize, arguments: [&'static str; 2]) -> Result<Side> {
        check_ranks(ranks, size, arguments[0])?;
        let weights = weights.unwrap_or(&[]);
        check_not_negative(weights, arguments[1])?;
        Ok(Side { ranks: ranks.into(), weights: weights.into() })
    }

    fn weight(&self, index: usize) -> i32 {
        self.weights.get(index).copied().unwrap_or(1)
    }
}

/// The neighbours of this process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DistGraph {
    /// The processes that edges come from.
    pub inward: Side,
    /// The processes that edges go to.
    pub outward: Side,
    /// Whether edges have weights.
    pub weighted: bool,
}

impl DistGraph {
    /// As words, for another process.
    pub(super) fn to_words(&self) -> Vec<u64> {
        let mut words = vec![u64::from(self.weighted), self.inward.ranks.len() as u64];
        for side in [&self.inward, &self.outward] {
            words.extend((0..side.ranks.len()).map(|index| pack(side.ranks[index], side.weight(index))));
        }
        words
    }

    /// What [`DistGraph::to_words`] said.
    pub(super) fn from_words(words: &[u64]) -> Option<DistGraph> {
        let [weighted, inward, rest @ ..] = words else { return None };
        let (inward, outward) = rest.split_at_checked(*inward as usize)?;
        let side = |words: &[u64]| {
            let weights = words.iter().filter(|_| *weighted != 0).map(|word| unpack(*word).1);
            Side { ranks: words.iter().map(|word| unpack(*word).0).collect(), weights: weights.collect() }
        };
        Some(DistGraph { inward: side(inward), outward: side(outward), weighted: *weighted != 0 })
    }

    /// Targets and weights of the edges that leave this process.
    pub(super) fn out_words(&self) -> Vec<u64> {
        (0..self.outward.ranks.len()).map(|index| pack(self.outward.ranks[index], self.outward.weight(index))).collect()
    }
}

/// Edges of a graph, named by any process.
#[derive(Debug)]
pub struct Named<'a> {
    /// Nodes from which edges go.
    pub sources: &'a [i32],
    /// How many from each.
    pub degrees: &'a [i32],
    /// Where to, node by node.
    pub destinations: &'a [i32],
    /// As many as destinations, unless there are none.
    pub weights: Option<&'a [i32]>,
}

impl Named<'_> {
    /// Checks them for a communicator of `size`.
    pub fn check(&self, size: usize) -> Result<()> {
        check_ranks(self.sources, size, "sources")?;
        check_ranks(self.destinations, size, "destinations")?;
        check_not_negative(self.weights.unwrap_or(&[]), "weights")
    }
}

pub(super) fn pack(rank: i32, weight: i32) -> u64 {
    u64::from(rank as u32) << 32 | u64::from(weight as u32)
}

pub(super) fn unpack(word: u64) -> (i32, i32) {
    ((word >> 32) as i32, word as i32)
}

fn check_ranks(ranks: &[i32], size: usize, argument: &'static str) -> Result<()> {
    match ranks.iter().find(|rank| **rank as u32 as usize >= size) {
        None => Ok(()),
        Some(rank) => {
            let why = format!("{rank} is not a rank of the communicator (0 to {})", size - 1);
            Err(Fault::new(Class::Rank).argument(argument).because(why))
        }
    }
}

/// Refuses negative weights or degrees.
pub fn check_not_negative(all: &[i32], argument: &'static str) -> Result<()> {
    match all.iter().find(|one| **one < 0) {
        None => Ok(()),
        Some(one) => Err(Fault::new(Class::Arg).argument(argument).because(format!("{one} is negative"))),
    }
}
