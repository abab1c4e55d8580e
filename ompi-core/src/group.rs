//! Groups: ordered sets of processes.

use crate::error::{Class, Fault, Result};
use crate::handle::HandleTable;
use crate::process;
use crate::sequence::Sequence;
use crate::status::UNDEFINED;
use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::mem::offset_of;
use opal_core::inspect::Fact;
use opal_core::sort;
use opal_core::sync::Once;

/// MPI_GROUP_NULL.
pub const NULL: usize = 0x108;
/// MPI_GROUP_EMPTY.
pub const EMPTY: usize = 0x109;

static DYNAMIC: HandleTable<Group> = HandleTable::new();

/// The group behind a handle.
pub fn get(handle: usize) -> Option<Arc<Group>> {
    static NOBODY: Once<Arc<Group>> = Once::new();
    match handle {
        EMPTY => Some(NOBODY.call_once(|| Arc::new(Group::new(Box::new([]), 0))).clone()),
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
    members: Arc<Members>,
    rank: Option<u32>,
    // The handle of the session that it comes from, or 0.
    session: usize,
}

/// The processes of a group and of its copies; their indices stay theirs as long as this lives.
#[derive(Debug, PartialEq, Eq)]
struct Members(Sequence);

impl Drop for Members {
    fn drop(&mut self) {
        process::let_go(&self.0);
    }
}

impl Group {
    /// The processes `members` (indices into the process table) in rank order; `me` is this process.
    pub fn new(members: Box<[u32]>, me: u32) -> Group {
        Group::of(Sequence::of(members), me)
    }

    /// As [`Group::new`].
    pub fn of(members: Sequence, me: u32) -> Group {
        let rank = members.position(me).map(|rank| rank as u32);
        process::hold(&members);
        Group { members: Arc::new(Members(members)), rank, session: 0 }
    }

    /// As it comes from a session's process set, by the session's handle; 0 for the world model.
    pub fn in_session(self, session: usize) -> Group {
        Group { session, ..self }
    }

    /// The handle of the session that it comes from, or 0.
    pub fn session(&self) -> usize {
        self.session
    }

    /// Number of members.
    #[inline(always)]
    pub fn size(&self) -> usize {
        self.members.0.len()
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
    pub fn members(&self) -> &Sequence {
        &self.members.0
    }

    /// The rank of a process.
    pub fn rank_of(&self, process: u32) -> Option<usize> {
        self.members.0.position(process)
    }
}

/// What a debugger needs to know of groups.
pub(crate) static FACTS: [Fact; 2] =
    [Fact::address("group.table", &raw const DYNAMIC), Fact::number("group.members", offset_of!(Group, members))];
// The sequence begins where they do.
const _: () = assert!(offset_of!(Members, 0) == 0);

/// How two groups compare: MPI_IDENT, MPI_SIMILAR or MPI_UNEQUAL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Comparison {
    /// Same members, same order.
    Ident = 201,
    /// Same members, other order.
    Similar = 203,
    /// Other members.
    Unequal = 204,
}

impl Group {
    /// MPI_Group_compare.
    pub fn compare(&self, other: &Group) -> Comparison {
        if self.members == other.members {
            return Comparison::Ident;
        }
        let sorted = |group: &Group| {
            let mut members = group.members.0.to_vec();
            sort::ascending(&mut members);
            members
        };
        if sorted(self) == sorted(other) { Comparison::Similar } else { Comparison::Unequal }
    }

    /// The members at these ranks, in this order; ranks are valid and differ ([`Group::check`]).
    pub fn incl(&self, ranks: &[i32]) -> Group {
        self.made_of(ranks.iter().map(|rank| self.members.0.at(*rank as usize)))
    }

    /// All members but those at these ranks.
    pub fn excl(&self, ranks: &[i32]) -> Group {
        let mut stays = vec![true; self.size()];
        ranks.iter().for_each(|rank| stays[*rank as usize] = false);
        self.made_of(self.members.0.iter().zip(stays).filter(|(_, stays)| *stays).map(|(member, _)| member))
    }

    /// This group's members, then the other's that are not among them.
    pub fn union(&self, other: &Group) -> Group {
        let mine = self.set();
        let others = other.members.0.iter().filter(|member| !mine.contains(member));
        self.made_of(self.members.0.iter().chain(others))
    }

    /// Those of this group's members that are in the other.
    pub fn intersection(&self, other: &Group) -> Group {
        let theirs = other.set();
        self.made_of(self.members.0.iter().filter(|member| theirs.contains(member)))
    }

    /// Those of this group's members that are not in the other.
    pub fn difference(&self, other: &Group) -> Group {
        let theirs = other.set();
        self.made_of(self.members.0.iter().filter(|member| !theirs.contains(member)))
    }

    /// Refuses ranks that are none of this group, or named twice (MPI 5.0 §7.3.2).
    pub fn check(&self, ranks: &[i32], argument: &'static str) -> Result<()> {
        let mut seen = vec![false; self.size()];
        for rank in ranks {
            let why = match usize::try_from(*rank).ok().and_then(|rank| seen.get_mut(rank)) {
                Some(seen) if !*seen => {
                    *seen = true;
                    continue;
                }
                Some(_) => format!("rank {rank} is named twice"),
                None => format!("{rank} is not a rank of the group of {} processes", self.size()),
            };
            return Err(Fault::new(Class::Rank).argument(argument).because(why));
        }
        Ok(())
    }

    /// The ranks that triplets of first, last and stride name, checked.
    pub fn ranks_of(&self, ranges: &[[i32; 3]]) -> Result<Vec<i32>> {
        let mut ranks = Vec::new();
        for [first, last, stride] in ranges {
            let (direction, stride) = (i64::from(*last) - i64::from(*first), i64::from(*stride));
            if stride == 0 || direction.signum() == -stride.signum() {
                let why = format!("the stride {stride} does not lead from {first} to {last}");
                return Err(Fault::new(Class::Arg).argument("ranges").because(why));
            }
            // One more than there are ranks is enough to find the mistake; a wild range cannot fill the memory.
            let steps = (0..=direction / stride).take(self.size() + 1);
            ranks.extend(steps.map(|step| (i64::from(*first) + step * stride) as i32));
        }
        self.check(&ranks, "ranges")?;
        Ok(ranks)
    }

    fn set(&self) -> BTreeSet<u32> {
        self.members.0.iter().collect()
    }

    fn made_of(&self, members: impl Iterator<Item = u32>) -> Group {
        Group::new(members.collect(), process::me().index).in_session(self.session)
    }
}

/// Which of two groups that share no process comes first, on all processes.
pub fn is_first(group: &Sequence, other: &Sequence) -> bool {
    // By names: indices are this process's own.
    let first = |members: &Sequence| members.get(0).map(process::name);
    first(group) < first(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(members: &[u32]) -> Group {
        Group::new(members.into(), u32::MAX)
    }

    #[test]
    fn ranges_go_both_ways_and_are_checked() {
        let ten = group(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
        assert_eq!(ten.ranks_of(&[[6, 7, 1], [1, 6, 2], [0, 9, 4]]).unwrap(), [6, 7, 1, 3, 5, 0, 4, 8]);
        assert_eq!(ten.ranks_of(&[[6, 7, 1], [7, 7, 1]]).unwrap_err().get(), Class::Rank as i32);
        assert_eq!(ten.ranks_of(&[[9, 1, -3], [0, 0, 5]]).unwrap(), [9, 6, 3, 0]);
        assert_eq!(ten.ranks_of(&[[1, 5, -1]]).unwrap_err().get(), Class::Arg as i32);
        assert_eq!(ten.ranks_of(&[[1, 5, 0]]).unwrap_err().get(), Class::Arg as i32);
        assert_eq!(ten.ranks_of(&[[0, i32::MAX, 1]]).unwrap_err().get(), Class::Rank as i32);
    }

    #[test]
    fn comparison_looks_at_members_and_order() {
        assert_eq!(group(&[1, 2]).compare(&group(&[1, 2])), Comparison::Ident);
        assert_eq!(group(&[1, 2]).compare(&group(&[2, 1])), Comparison::Similar);
        assert_eq!(group(&[1, 2]).compare(&group(&[1, 3])), Comparison::Unequal);
    }
}
