//! Groups: ordered sets of processes.

use crate::status::UNDEFINED;
use alloc::boxed::Box;

/// An ordered set of processes; immutable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    members: Box<[u32]>,
    rank: Option<u32>,
}

impl Group {
    /// The processes `members` (indices into the process table) in rank order; `me` is this process.
    pub fn new(members: Box<[u32]>, me: u32) -> Group {
        let rank = members.iter().position(|member| *member == me).map(|rank| rank as u32);
        Group { members, rank }
    }

    /// Number of members.
    #[inline(always)]
    pub fn size(&self) -> usize {
        self.members.len()
    }

    /// This process's rank, if it is a member.
    pub fn rank(&self) -> Option<u32> {
        self.rank
    }

    /// This process's rank as C sees it.
    pub fn rank_or_undefined(&self) -> i32 {
        self.rank.map_or(UNDEFINED, |rank| rank as i32)
    }

    /// Process index of each rank.
    pub fn members(&self) -> &[u32] {
        &self.members
    }

    /// The rank of a process.
    pub fn rank_of(&self, process: u32) -> Option<usize> {
        self.members.iter().position(|member| *member == process)
    }
}
