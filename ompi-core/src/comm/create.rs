//! Making communicators from others, and freeing them.
//!
//! One exchange over the parent carries what a new communicator needs: each member's context number for it. A second one
//! among the members agrees on the collectives (`activate.rs`). No global agreement on numbers is needed.

use super::cid::{Member, Reservation, exchange, members};
use super::{Communicator, DYNAMIC, Hints, insert};
use crate::attr;
use crate::buffer::{self, Owner};
use crate::error::{Class, Fault, Result};
use crate::group::{Group, is_first};
use crate::oob::allgather::{Allgather, Participants};
use crate::oob::{Conversation, Key};
use crate::process;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use opal_core::sort;
use opal_core::sync::Ordering;

/// MPI_Comm_split and its like: the members with this rank's color, ordered by key, then by rank. `None` for a process
/// without a color, and where one group of an intercommunicator has no process of it.
pub fn split(parent: &Communicator, color: Option<u64>, key: i32, hints: Hints) -> Result<Option<usize>> {
    split_for(parent, color, key, hints)?.map(insert).transpose()
}

/// As [`split`], in the order of ranks and without a handle: for components, which keep communicators of their own.
pub fn split_hidden(parent: &Communicator, color: Option<u64>) -> Result<Option<Arc<Communicator>>> {
    split_for(parent, color, 0, Hints::default())
}

fn split_for(parent: &Communicator, color: Option<u64>, key: i32, hints: Hints) -> Result<Option<Arc<Communicator>>> {
    let reservation = Reservation::new(&parent.group)?;
    let words = [reservation.number.into(), u64::from(color.is_some()), color.unwrap_or(0), key as u32 as u64];
    let received = exchange(parent, words)?;
    let Some(color) = color else { return Ok(None) };
    let select = |group: &Group, words: &[[u64; 4]]| {
        let mut chosen: Vec<usize> = (0..words.len()).filter(|rank| words[*rank][1..3] == [1, color]).collect();
        sort::by_key(&mut chosen, |rank| (words[*rank][3] as u32 as i32, *rank));
        chosen
            .iter()
            .map(|rank| Member { process: group.members().at(*rank), context: words[*rank][0] as u32 })
            .collect()
    };
    let local = select(&parent.group, &received.local);
    let remote = parent.remote.as_ref().map(|remote| select(remote, &received.remote));
    reservation.activate_hidden(local, remote, parent.errhandler.load(Ordering::Relaxed), hints)
}

/// MPI_Comm_create: the members of `group`, in its order; of an intercommunicator each side names a part of its own.
/// `None` for those outside it.
pub fn create(parent: &Communicator, group: &Group) -> Result<Option<usize>> {
    ranks_in(group, parent)?;
    let reservation = Reservation::new(&parent.group)?;
    let position = group.rank().map_or(0, |rank| u64::from(rank) + 1);
    let received = exchange(parent, [reservation.number.into(), position])?;
    if position == 0 {
        return Ok(None);
    }
    let select = |group: &Group, words: &[[u64; 2]]| {
        let mut chosen: Vec<usize> = (0..words.len()).filter(|rank| words[*rank][1] != 0).collect();
        sort::by_key(&mut chosen, |rank| words[*rank][1]);
        chosen
            .iter()
            .map(|rank| Member { process: group.members().at(*rank), context: words[*rank][0] as u32 })
            .collect()
    };
    let local: Vec<Member> = select(&parent.group, &received.local);
    if !local.iter().map(|member| member.process).eq(group.members().iter()) {
        // MPI 5.0 §7.4.2 lets processes name different groups if these share no process.
        let contexts = group.members().iter().filter_map(|process| {
            let rank = parent.group.rank_of(process)?;
            Some(Member { process, context: received.local[rank][0] as u32 })
        });
        let local = contexts.collect();
        return reservation.activate(local, None, parent.errhandler.load(Ordering::Relaxed), Hints::default());
    }
    let remote = parent.remote.as_ref().map(|remote| select(remote, &received.remote));
    reservation.activate(local, remote, parent.errhandler.load(Ordering::Relaxed), Hints::default())
}

/// MPI_Comm_create_group: as [`create`], called by the members only. `None` for the empty group, and for a caller that is
/// no member: the standard does not foresee it, other libraries accept it.
pub fn create_group(parent: &Communicator, group: &Group, tag: i32) -> Result<Option<usize>> {
    if parent.is_inter() {
        return Err(Fault::new(Class::Comm).argument("comm").because("it is an intercommunicator"));
    }
    let ranks = ranks_in(group, parent)?;
    let Some(me) = group.rank().filter(|_| group.size() != 0).map(|rank| rank as usize) else {
        return Ok(None);
    };
    let participant =
        |rank: &usize| Member { process: parent.group.members().at(*rank), context: parent.peer_contexts().at(*rank) };
    let participants = Participants { all: ranks.iter().map(participant).collect(), me };
    let key = Key::of(Conversation::Subgroup, parent.context, tag as u32 as u64);
    let reservation = Reservation::new(&parent.group)?;
    let words = Allgather::new(participants, key, &[reservation.number.into()]).wait::<1>()?;
    reservation.activate(members(group, &words), None, parent.errhandler.load(Ordering::Relaxed), Hints::default())
}

/// MPI_Comm_create_from_group: a communicator without another one; `tag` tells concurrent calls apart. `None` for the
/// empty group.
pub fn create_from_group(group: &Group, tag: &[u8], errhandler: usize, hints: Hints) -> Result<Option<usize>> {
    if group.size() == 0 {
        return Ok(None);
    }
    let me = group.rank().ok_or_else(not_in_group)? as usize;
    let reservation = Reservation::new(group)?;
    let participants = Participants { all: members::<1>(group, &[]).into(), me };
    let key = Key::named(Conversation::Group, name_of(tag, &[group]));
    let words = Allgather::new(participants, key, &[reservation.number.into()]).wait::<1>()?;
    reservation.activate(members(group, &words), None, errhandler, hints)
}

/// MPI_Intercomm_merge: one group of both; the group whose processes gave `high` stands behind the other.
pub fn merge(parent: &Communicator, high: bool) -> Result<usize> {
    let Some(remote) = &parent.remote else {
        return Err(Fault::new(Class::Comm).argument("intercomm").because("it is not an intercommunicator"));
    };
    let reservation = Reservation::new(&parent.group)?;
    let received = exchange(parent, [reservation.number.into(), u64::from(high)])?;
    let here = members(&parent.group, &received.local);
    let there = members(remote, &received.remote);
    if received.local.iter().any(|words| words[1] != u64::from(high)) {
        let why = "the processes of one group passed different values";
        return Err(Fault::new(Class::Arg).argument("high").because(why));
    }
    let they_are_high = received.remote[0][1] != 0;
    let first = if high == they_are_high { is_first(parent.group.members(), remote.members()) } else { !high };
    let all = if first { [here, there].concat() } else { [there, here].concat() };
    let made = reservation.activate(all, None, parent.errhandler.load(Ordering::Relaxed), Hints::default())?;
    made.ok_or_else(|| Class::Intern.into())
}

/// MPI_Comm_free: ends the handle; pending communication completes on the objects that hold the rest.
pub fn free(handle: usize) -> Result<()> {
    if DYNAMIC.borrow(handle).is_none() {
        let why = format!("{handle:#x} is not a valid communicator handle; it was freed or never created");
        return Err(Fault::new(Class::Comm).argument("comm").because(why));
    }
    // The callbacks of its attributes may still use it.
    attr::delete_all(attr::KeyvalKind::Comm, handle)?;
    if let Some(comm) = DYNAMIC.get(handle) {
        // The number will be another communicator's.
        buffer::drop_owner(Owner::Comm(comm.context))?;
    }
    DYNAMIC.remove(handle).map(drop).ok_or_else(|| Class::Comm.into())
}

/// The ranks in a communicator of all members of a group.
fn ranks_in(group: &Group, parent: &Communicator) -> Result<Vec<usize>> {
    let ranks: Option<Vec<usize>> = group.members().iter().map(|member| parent.group.rank_of(member)).collect();
    ranks.ok_or_else(|| {
        let why = "the group has a process that is not a member of the communicator";
        Fault::new(Class::Group).argument("group").because(why)
    })
}

fn not_in_group() -> Fault {
    Fault::new(Class::Group).argument("group").because("the calling process is not a member of the group")
}

/// Two hashes (FNV-1a from two starts) of a tag and of the members of groups, which all members compute alike.
pub fn name_of(tag: &[u8], groups: &[&Group]) -> [u64; 2] {
    [0xcbf2_9ce4_8422_2325, 0x6c62_272e_07bb_0142].map(|start| {
        let hash = tag.iter().fold(start, |hash, byte| step(hash, u64::from(*byte)));
        groups.iter().fold(hash, |hash, group| {
            // By names: indices are this process's own.
            let members = group.members().iter().map(process::name);
            step(members.fold(hash, |hash, name| step(step(hash, name.job), u64::from(name.rank) + 1)), 0)
        })
    })
}

fn step(hash: u64, value: u64) -> u64 {
    (hash ^ value).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(29)
}
