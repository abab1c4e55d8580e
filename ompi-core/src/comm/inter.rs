//! Intercommunicators from two groups: MPI 5.0 §7.6.2.
//!
//! Each group gathers its members' context numbers. Its leader exchanges them with the other leader, and broadcasts those
//! of the other group. A leader whose arguments are wrong tells its group so along with the numbers, so that no rank waits
//! for ever.

use super::cid::{Member, Reservation, members};
use super::create::name_of;
use super::{Communicator, Hints};
use crate::error::{Class, Fault, Result};
use crate::group::{Group, is_first};
use crate::oob::allgather::{Allgather, Participants, block_on, broadcast};
use crate::oob::{self, Conversation, Key};
use crate::process;
use alloc::format;
use alloc::vec::Vec;
use opal_core::framework::btl::ProcessName;
use opal_core::sync::Ordering;

/// How a leader reaches the leader of the other group.
struct LeaderExchange {
    process: u32,
    // The key of the message to the other leader, and of the one from it.
    there: Key,
    here: Key,
}

/// The local group of an intercommunicator that is being made.
struct LocalGroup<'a> {
    group: &'a Group,
    participants: Participants,
    gather: Key,
    broadcast: Key,
    leader: usize,
    errhandler: usize,
    hints: Hints,
}

/// MPI_Intercomm_create. `peer` and `remote_leader` count at the local leader only; `peer` is none for a wrong handle.
pub fn create(
    local: &Communicator,
    leader: i32,
    peer: Option<&Communicator>,
    remote_leader: i32,
    tag: i32,
) -> Result<usize> {
    if local.is_inter() {
        return Err(Fault::new(Class::Comm).argument("local_comm").because("it is an intercommunicator"));
    }
    let leader = checked_leader(leader, local.size(), "local_leader")?;
    let leaders = (leader == local.rank as usize).then(|| {
        let peer = peer.ok_or_else(|| {
            Fault::new(Class::Comm)
                .argument("peer_comm")
                .because("this process is the leader and must name a communicator that contains both leaders")
        })?;
        let rank = checked_leader(remote_leader, peer.peers().size(), "remote_leader")?;
        let key = |context| Key::of(Conversation::Leaders, context, tag as u32 as u64);
        let process = peer.peers().members().at(rank);
        if process == process::me().index {
            let why = "it is this process itself; the remote leader must be in the other group";
            return Err(Fault::new(Class::Rank).argument("remote_leader").because(why));
        }
        Ok(LeaderExchange { process, there: key(peer.peer_contexts().at(rank)), here: key(peer.context) })
    });
    let constructor = local.next_constructor();
    let local = LocalGroup {
        group: &local.group,
        participants: Participants::of(local),
        gather: Key::of(Conversation::Collective, local.context, constructor),
        broadcast: Key::of(Conversation::Broadcast, local.context, constructor),
        leader,
        errhandler: local.errhandler.load(Ordering::Relaxed),
        hints: Hints::default(),
    };
    local.join(leaders)
}

/// MPI_Intercomm_create_from_groups. `remote` and `remote_leader` count at the local leader only.
pub fn create_from_groups(
    (group, leader): (&Group, i32),
    (remote, remote_leader): (Option<&Group>, i32),
    tag: &[u8],
    errhandler: usize,
    hints: Hints,
) -> Result<usize> {
    let leader = checked_leader(leader, group.size(), "local_leader")?;
    let Some(me) = group.rank() else {
        let why = "the calling process is not a member of the group";
        return Err(Fault::new(Class::Group).argument("local_group").because(why));
    };
    let leaders = (leader == me as usize).then(|| {
        let remote = remote.ok_or_else(|| {
            Fault::new(Class::Group)
                .argument("remote_group")
                .because("this process is the leader and must name the remote group")
        })?;
        let rank = checked_leader(remote_leader, remote.size(), "remote_leader")?;
        if group.members().iter().any(|member| remote.rank_of(member).is_some()) {
            return Err(overlap("remote_group"));
        }
        // The same order of the groups on both sides.
        let (one, two) = if is_first(group.members(), remote.members()) { (group, remote) } else { (remote, group) };
        let key = Key::named(Conversation::GroupLeaders, name_of(tag, &[one, two]));
        Ok(LeaderExchange { process: remote.members().at(rank), there: key, here: key })
    });
    let name = name_of(tag, &[group]);
    let local = LocalGroup {
        group,
        participants: Participants { all: members::<1>(group, &[]).into(), me: me as usize },
        gather: Key::named(Conversation::Group, [!name[0], name[1]]),
        broadcast: Key::named(Conversation::GroupBroadcast, name),
        leader,
        errhandler,
        hints,
    };
    local.join(leaders)
}

impl LocalGroup<'_> {
    fn join(self, leaders: Option<Result<LeaderExchange>>) -> Result<usize> {
        let reservation = Reservation::new(self.group)?;
        let wrong = match &leaders {
            Some(Err(fault)) => fault.get() as u32 as u64,
            _ => 0,
        };
        let words = [u64::from(reservation.number), wrong];
        let received = Allgather::new(self.participants.clone(), self.gather, &words).wait::<2>()?;
        let leaders = leaders.transpose()?;
        if let Some([_, code]) = received.iter().find(|[_, code]| *code != 0) {
            return Err(Fault::code(*code as i32).because("the leader of this group passed wrong arguments"));
        }
        let here = members(self.group, &received);
        let message = match leaders {
            Some(leaders) => leaders.exchange(&here)?,
            None => Vec::new(),
        };
        let message = broadcast(&self.participants, self.broadcast, self.leader, message)?;
        let there = remote_members(&message)?;
        if here.iter().any(|member| there.iter().any(|other| other.process == member.process)) {
            return Err(overlap("local_comm"));
        }
        let made = reservation.activate(here, Some(there), self.errhandler, self.hints)?;
        made.ok_or_else(|| Class::Intern.into())
    }
}

impl LeaderExchange {
    /// Exchanges the members.
    fn exchange(&self, members: &[Member]) -> Result<Vec<u64>> {
        let words: Vec<u64> = members.iter().flat_map(words_of).collect();
        oob::connect(self.process)?;
        oob::send(self.process, self.there, &words)?;
        let mut message = None;
        block_on(|| {
            message = oob::take_or_fail(self.process, self.here)?;
            Ok(message.is_some())
        })?;
        Ok(message.unwrap_or_default())
    }
}

fn remote_members(message: &[u64]) -> Result<Vec<Member>> {
    let (members, rest) = message.as_chunks::<WORDS>();
    if members.is_empty() || !rest.is_empty() {
        let why = "the leader of the other group sent a message that cannot be understood";
        return Err(Fault::new(Class::Intern).because(why));
    }
    let member = |[job, rank, context]: &[u64; WORDS]| {
        let name = ProcessName { job: *job, rank: *rank as u32 };
        let process = process::find(name).ok_or_else(|| {
            let why = format!(
                "rank {} in MPI_COMM_WORLD of job {:x} is in the other group, and this process is not connected to it; connect all \
                 processes of both groups first, by MPI_Comm_accept and MPI_Comm_connect",
                name.rank, name.job
            );
            Fault::new(Class::Comm).because(why)
        })?;
        Ok(Member { process, context: *context as u32 })
    };
    members.iter().map(member).collect()
}

/// A member as the other leader understands it.
fn words_of(member: &Member) -> [u64; WORDS] {
    let ProcessName { job, rank } = process::name(member.process);
    [job, rank.into(), member.context.into()]
}

const WORDS: usize = 3;

fn checked_leader(rank: i32, size: usize, argument: &'static str) -> Result<usize> {
    usize::try_from(rank).ok().filter(|rank| *rank < size).ok_or_else(|| {
        let why = format!("{rank} is not a rank among {size} processes");
        Fault::new(Class::Rank).argument(argument).because(why)
    })
}

fn overlap(argument: &'static str) -> Fault {
    Fault::new(Class::Comm).argument(argument).because("the two groups have a process in common")
}
