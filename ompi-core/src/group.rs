//! Groups: ordered sets of processes.

use crate::handle::Table;
use crate::status::UNDEFINED;
use alloc::boxed::Box;
use alloc::sync::Arc;
use opal_core::sync::Once;

/// MPI_GROUP_NULL.
pub const NULL: usize = 0x108;
/// MPI_GROUP_EMPTY.
pub const EMPTY: usize = 0x109;

static DYNAMIC: Table<Group> = Table::new();

/// The group behind a handle.
pub fn get(handle: usize) -> Option<Arc<Group>> {
    static NOBODY: Once<Arc<Group>> = Once::new();
    match handle {
        EMPTY => Some(NOBODY.call_once(|| Arc::new(Group { members: Box::new([]), rank: None })).clone()),
        _ => DYNAMIC.get(handle),
    }
}

/// A handle for a group; the empty one has its own.
pub fn insert(group: Arc<Group>) -> Option<usize> {
    match group.size() {
        0 => Some(EMPTY),
        _ => DYNAMIC.insert(group),
    }
}

/// Ends a handle; the predefined one stays.
pub fn remove(handle: usize) -> bool {
    handle == EMPTY || DYNAMIC.remove(handle).is_some()
}

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
