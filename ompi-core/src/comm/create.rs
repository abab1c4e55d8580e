//! Making communicators from others, and freeing them.
//!
//! One exchange over the parent carries what a new communicator needs: each member's context number for it. A second one
//! among the members agrees on the collectives ([`Completion`]). No global agreement on numbers is needed.

use super::complete::Completion;
use super::{Communicator, DYNAMIC, Hints, context};
use crate::attr;
use crate::buffer::{self, Owner};
use crate::error::{Class, Fault, Result};
use crate::framework::pml;
use crate::group::Group;
use crate::oob::allgather::{Allgather, Participants, is_first};
use crate::oob::{Key, Kind};
use crate::process;
use alloc::boxed::Box;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use opal_core::sync::Ordering;

/// MPI_Comm_split and its like: the members with this rank's color, ordered by key, then by rank. `None` for who has no
/// color, and where one side of an intercommunicator has nobody of it.
pub fn split(parent: &Communicator, color: Option<u64>, key: i32, hints: Hints) -> Result<Option<usize>> {
    split_for(parent, color, key, hints)?.map(with_handle).transpose()
}

/// As [`split`], in the order of ranks, for who needs no handle: a component for instance, below a communicator.
pub fn split_hidden(parent: &Communicator, color: Option<u64>) -> Result<Option<Arc<Communicator>>> {
    split_for(parent, color, 0, Hints::default())
}

fn split_for(parent: &Communicator, color: Option<u64>, key: i32, hints: Hints) -> Result<Option<Arc<Communicator>>> {
    let draft = Draft::new(&parent.group)?;
    let words = [draft.number.into(), u64::from(color.is_some()), color.unwrap_or(0), key as u32 as u64];
    let heard = heard(parent, words)?;
    let Some(color) = color else { return Ok(None) };
    let select = |group: &Group, words: &[[u64; 4]]| {
        let mut chosen: Vec<usize> = (0..words.len()).filter(|rank| words[*rank][1..3] == [1, color]).collect();
        chosen.sort_by_key(|rank| (words[*rank][3] as u32 as i32, *rank));
        chosen.iter().map(|rank| Member { process: group.members()[*rank], context: words[*rank][0] as u32 }).collect()
    };
    let local = select(&parent.group, &heard.local);
    let remote = parent.remote.as_ref().map(|remote| select(remote, &heard.remote));
    draft.completed(local, remote, parent.errhandler.load(Ordering::Relaxed), hints)
}

/// MPI_Comm_create: the members of `group`, in its order; of an intercommunicator each side names a part of its own.
/// `None` for those outside it.
pub fn create(parent: &Communicator, group: &Group) -> Result<Option<usize>> {
    ranks_in(group, parent)?;
    let draft = Draft::new(&parent.group)?;
    let position = group.rank().map_or(0, |rank| u64::from(rank) + 1);
    let heard = heard(parent, [draft.number.into(), position])?;
    if position == 0 {
        return Ok(None);
    }
    let select = |group: &Group, words: &[[u64; 2]]| {
        let mut chosen: Vec<usize> = (0..words.len()).filter(|rank| words[*rank][1] != 0).collect();
        chosen.sort_by_key(|rank| words[*rank][1]);
        chosen.iter().map(|rank| Member { process: group.members()[*rank], context: words[*rank][0] as u32 }).collect()
    };
    let local: Vec<Member> = select(&parent.group, &heard.local);
    if !local.iter().map(|member| member.process).eq(group.members().iter().copied()) {
        // MPI 5.0 §7.4.2 lets processes name different groups if these share no process.
        let contexts = group.members().iter().filter_map(|process| {
            let rank = parent.group.rank_of(*process)?;
            Some(Member { process: *process, context: heard.local[rank][0] as u32 })
        });
        let local = contexts.collect();
        return draft.finish(local, None, parent.errhandler.load(Ordering::Relaxed), Hints::default());
    }
    let remote = parent.remote.as_ref().map(|remote| select(remote, &heard.remote));
    draft.finish(local, remote, parent.errhandler.load(Ordering::Relaxed), Hints::default())
}

/// MPI_Comm_create_group: as [`create`], called by the members only. `None` for the empty group.
pub fn create_group(parent: &Communicator, group: &Group, tag: i32) -> Result<Option<usize>> {
    if parent.is_inter() {
        return Err(Fault::new(Class::Comm).argument("comm").because("it is an intercommunicator"));
    }
    let ranks = ranks_in(group, parent)?;
    if group.size() == 0 {
        return Ok(None);
    }
    let me = group.rank().ok_or_else(not_in_group)? as usize;
    let participant =
        |rank: &usize| Member { process: parent.group.members()[*rank], context: parent.peer_contexts()[*rank] };
    let participants = Participants { all: ranks.iter().map(participant).collect(), me };
    let key = Key::of(Kind::Part, parent.context, tag as u32 as u64);
    let draft = Draft::new(&parent.group)?;
    let words = Allgather::new(participants, key, &[draft.number.into()]).wait::<1>()?;
    draft.finish(members(group, &words), None, parent.errhandler.load(Ordering::Relaxed), Hints::default())
}

/// MPI_Comm_create_from_group: a communicator without another one; `tag` tells concurrent calls apart. `None` for the
/// empty group.
pub fn create_from_group(group: &Group, tag: &[u8], errhandler: usize, hints: Hints) -> Result<Option<usize>> {
    if group.size() == 0 {
        return Ok(None);
    }
    let me = group.rank().ok_or_else(not_in_group)? as usize;
    let draft = Draft::new(group)?;
    let participants = Participants { all: members::<1>(group, &[]).into(), me };
    let key = Key::named(Kind::Group, name_of(tag, &[group]));
    let words = Allgather::new(participants, key, &[draft.number.into()]).wait::<1>()?;
    draft.finish(members(group, &words), None, errhandler, hints)
}

/// MPI_Intercomm_merge: one group of both, those who said `high` behind the others.
pub fn merge(parent: &Communicator, high: bool) -> Result<usize> {
    let Some(remote) = &parent.remote else {
        return Err(Fault::new(Class::Comm).argument("intercomm").because("it is no intercommunicator"));
    };
    let draft = Draft::new(&parent.group)?;
    let heard = heard(parent, [draft.number.into(), u64::from(high)])?;
    let here = members(&parent.group, &heard.local);
    let there = members(remote, &heard.remote);
    if heard.local.iter().any(|words| words[1] != u64::from(high)) {
        let why = "the processes of one group gave different values";
        return Err(Fault::new(Class::Arg).argument("high").because(why));
    }
    let they_are_high = heard.remote[0][1] != 0;
    let first = if high == they_are_high { is_first(parent.group.members(), remote.members()) } else { !high };
    let all = if first { [here, there].concat() } else { [there, here].concat() };
    let made = draft.finish(all, None, parent.errhandler.load(Ordering::Relaxed), Hints::default())?;
    made.ok_or_else(|| Class::Intern.into())
}

/// MPI_Comm_free: ends the handle; pending communication completes on the objects that hold the rest.
pub fn free(handle: usize) -> Result<()> {
    if DYNAMIC.borrow(handle).is_none() {
        let why = format!("{handle:#x} is no communicator in force; was it freed, or never made?");
        return Err(Fault::new(Class::Comm).argument("comm").because(why));
    }
    // The callbacks of its attributes may still use it.
    attr::delete_all(attr::Kind::Comm, handle)?;
    if let Some(comm) = DYNAMIC.get(handle) {
        // The number will be another communicator's.
        buffer::drop_owner(Owner::Comm(comm.context))?;
    }
    DYNAMIC.remove(handle).map(drop).ok_or_else(|| Class::Comm.into())
}

/// A process of the new communicator and its context number there.
pub type Member = crate::oob::allgather::Participant;

/// A context number for a communicator that may yet come to nothing: then the number is given back.
pub struct Draft {
    /// The number.
    pub number: u32,
    session: usize,
    used: bool,
}

impl Draft {
    /// Takes a number for a communicator that comes from this group.
    pub fn new(from: &Group) -> Result<Draft> {
        let number = context::allocate()
            .ok_or_else(|| Fault::new(Class::Other).because("all context numbers are in use; free communicators"))?;
        pml::selected().open_context(number).inspect_err(|_| context::release(number))?;
        Ok(Draft { number, session: from.session(), used: false })
    }

    /// The communicator of these groups while nobody's number is known.
    pub fn promise(mut self, local: Arc<Group>, remote: Option<Arc<Group>>, errhandler: usize) -> Communicator {
        self.used = true;
        Communicator::promised(local, remote, self.number, errhandler)
    }

    /// The communicator of these members, without collectives yet. `remote` makes it an intercommunicator.
    fn begin(
        self,
        local: &[Member],
        remote: Option<&[Member]>,
        errhandler: usize,
        hints: &Hints,
    ) -> Result<Completion> {
        let session = self.session;
        let group = |members: &[Member]| {
            let processes = members.iter().map(|member| member.process).collect();
            Arc::new(Group::new(processes, process::me().index).in_session(session))
        };
        let comm = self.promise(group(local), remote.map(group), errhandler);
        comm.hints.take_known(hints);
        complete(Arc::new(comm), local, remote)
    }

    /// The handle of the block_on communicator; `None` if a side of an intercommunicator has no members.
    pub fn finish(
        self,
        local: Vec<Member>,
        remote: Option<Vec<Member>>,
        errhandler: usize,
        hints: Hints,
    ) -> Result<Option<usize>> {
        self.completed(local, remote, errhandler, hints)?.map(with_handle).transpose()
    }

    fn completed(
        self,
        local: Vec<Member>,
        remote: Option<Vec<Member>>,
        errhandler: usize,
        hints: Hints,
    ) -> Result<Option<Arc<Communicator>>> {
        if remote.as_ref().is_some_and(Vec::is_empty) {
            return Ok(None);
        }
        self.begin(&local, remote.as_deref(), errhandler, &hints)?.wait().map(Some)
    }
}

fn with_handle(comm: Arc<Communicator>) -> Result<usize> {
    DYNAMIC.insert(comm).ok_or_else(|| Fault::new(Class::NoMem).because("all handles are in use"))
}

/// Begins to complete a communicator whose members have said their numbers.
pub fn complete(comm: Arc<Communicator>, local: &[Member], remote: Option<&[Member]>) -> Result<Completion> {
    let contexts = |members: &[Member]| members.iter().map(|member| member.context).collect();
    match remote {
        None => comm.set_contexts(contexts(local), Box::new([])),
        Some(remote) => comm.set_contexts(contexts(remote), contexts(local)),
    }
    Completion::new(comm)
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.used {
            pml::selected().close_context(self.number);
            context::release(self.number);
        }
    }
}

/// What both groups of a communicator said, by rank.
pub struct Heard<const N: usize> {
    /// Those of the own group.
    pub local: Vec<[u64; N]>,
    /// Those of the other group, if there is one.
    pub remote: Vec<[u64; N]>,
}

impl<const N: usize> Heard<N> {
    /// From the words of [`Participants::of`] the communicator.
    pub fn sort(group: &Group, remote: Option<&Group>, mut words: Vec<[u64; N]>) -> Heard<N> {
        let Some(remote) = remote else { return Heard { local: words, remote: Vec::new() } };
        if is_first(group.members(), remote.members()) {
            let rest = words.split_off(group.size());
            return Heard { local: words, remote: rest };
        }
        let local = words.split_off(remote.size());
        Heard { local, remote: words }
    }
}

fn heard<const N: usize>(parent: &Communicator, mine: [u64; N]) -> Result<Heard<N>> {
    let words = Allgather::about(parent, Kind::Collective, parent.next_turn(), &mine).wait::<N>()?;
    Ok(Heard::sort(&parent.group, parent.remote.as_deref(), words))
}

/// The members of a group with the numbers that they said first; 0 where nothing was said yet.
pub fn members<const N: usize>(group: &Group, words: &[[u64; N]]) -> Vec<Member> {
    let number = |rank: usize| words.get(rank).map_or(0, |words| words[0] as u32);
    let processes = group.members().iter().enumerate();
    processes.map(|(rank, process)| Member { process: *process, context: number(rank) }).collect()
}

/// The ranks in a communicator of all members of a group.
fn ranks_in(group: &Group, parent: &Communicator) -> Result<Vec<usize>> {
    let ranks: Option<Vec<usize>> = group.members().iter().map(|member| parent.group.rank_of(*member)).collect();
    ranks.ok_or_else(|| {
        let why = "the group has a process that is no member of the communicator";
        Fault::new(Class::Group).argument("group").because(why)
    })
}

fn not_in_group() -> Fault {
    Fault::new(Class::Group).argument("group").because("this process, which calls, is no member of the group")
}

/// Two hashes (FNV-1a from two starts) of a tag and of who is in groups: what all of them can compute alike.
pub fn name_of(tag: &[u8], groups: &[&Group]) -> [u64; 2] {
    [0xcbf2_9ce4_8422_2325, 0x6c62_272e_07bb_0142].map(|start| {
        let hash = tag.iter().fold(start, |hash, byte| step(hash, u64::from(*byte)));
        groups.iter().fold(hash, |hash, group| {
            let members = group.members().iter().map(|member| u64::from(*member) + 1);
            step(members.fold(hash, step), 0)
        })
    })
}

fn step(hash: u64, value: u64) -> u64 {
    (hash ^ value).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(29)
}
