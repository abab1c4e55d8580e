//! The two groups of an intercommunicator among the ranks of its merged intracommunicator.

use alloc::boxed::Box;
use core::ops::Range;
use ompi_core::framework::coll::{ROOT_BESIDE, ROOT_HERE};

/// Ranks in the merged intracommunicator, by rank in the group.
pub struct Groups {
    /// This process's group.
    pub here: Box<[usize]>,
    /// The other one.
    pub there: Box<[usize]>,
}

impl Groups {
    /// From [`Communicator::merged_ranks`](ompi_core::comm::Communicator::merged_ranks).
    pub fn new([here, there]: [Range<usize>; 2]) -> Groups {
        Groups { here: here.collect(), there: there.collect() }
    }

    /// Where the root of a call is.
    pub fn root(&self, root: usize) -> Root {
        match root {
            ROOT_HERE => Root::Here,
            ROOT_BESIDE => Root::Beside,
            rank => Root::There(self.there[rank]),
        }
    }
}

/// Where the root is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    /// It is this process.
    Here,
    /// In this process's group.
    Beside,
    /// In the other group, with this rank in the merged intracommunicator.
    There(usize),
}
