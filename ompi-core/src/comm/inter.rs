//! Intercommunicators from two groups: MPI 5.0 §7.6.2.
//!
//! Each group gathers its members' context numbers. Its leader exchanges them with the other leader, and broadcasts those
//! of the other group. A leader whose arguments are wrong tells its group so along with the numbers, so that no rank waits
//! for ever.
//!
//! Where processes of several jobs come together, some may know each other only through third ones. Then the groups exchange in the
//! same way how each member is reached.

use super::cid::{Member, Reservation, members};
use super::create::name_of;
use super::roster::{self, CARD_WORDS};
use super::{Communicator, Hints};
use crate::error::{Class, Fault, Result};
use crate::group::{Group, is_first};
use crate::oob::allgather::{Allgather, Participants, block_on, broadcast};
use crate::oob::{self, Conversation, Key};
use crate::process::{self, Meeting};
use alloc::format;
use alloc::vec::Vec;
use opal_core::framework::btl::ProcessName;
use opal_core::sync::{Once, Ordering};

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
        let words = here.iter().flat_map(words_of).collect();
        let message = self.exchange(leaders.as_ref(), words)?;
        let there = names(&message)?;
        let mut meeting = Meeting::default();
        let job = process::name(process::me().index).job;
        let is_of_job = |name: ProcessName| name.job == job;
        let are_of_one_job = here.iter().all(|member| is_of_job(process::name(member.process)))
            && there.iter().all(|(name, _)| is_of_job(*name));
        let there = match are_of_one_job {
            true => there.into_iter().map(of_own_job).collect::<Result<_>>()?,
            false => {
                let there = self.meet(leaders.as_ref(), reservation.number, &mut meeting)?;
                if leaders.is_some() {
                    MET.get().into_iter().for_each(|told| told(&here, &there));
                }
                there
            }
        };
        if here.iter().any(|member| there.iter().any(|other| other.process == member.process)) {
            return Err(overlap("local_comm"));
        }
        let made = reservation.activate(here, Some(there), self.errhandler, self.hints)?;
        made.ok_or_else(|| Class::Intern.into())
    }

    /// Gives each member what the other group's leader has; the own leader has `words`.
    fn exchange(&self, leaders: Option<&LeaderExchange>, words: Vec<u64>) -> Result<Vec<u64>> {
        let message = match leaders {
            Some(leaders) => leaders.exchange(&words)?,
            None => Vec::new(),
        };
        broadcast(&self.participants, self.broadcast, self.leader, message)
    }

    /// The members of the other group, which this one tells how its own are reached. `number` is the context number of this process.
    fn meet(&self, leaders: Option<&LeaderExchange>, number: u32, meeting: &mut Meeting) -> Result<Vec<Member>> {
        let card = roster::card(number);
        let cards = Allgather::new(self.participants.clone(), self.gather, &card).wait::<CARD_WORDS>()?;
        // The other group hears of a card that is missing as of a list that cannot be understood.
        let cards = roster::checked(cards);
        let own = cards.as_ref().map_or(Vec::new(), |cards| roster::of_cards(cards));
        let message = self.exchange(leaders, roster::to_words(&own).collect())?;
        cards?;
        roster::members(&roster::from_words(&message).unwrap_or_default(), meeting)
    }
}

/// Has this called by the leader of a group with its members and those of the other group, where they are of several jobs. `dynamic`
/// stands above.
pub fn tell_met(told: Met) {
    MET.call_once(|| told);
}

type Met = fn(here: &[Member], there: &[Member]);

static MET: Once<Met> = Once::new();

impl LeaderExchange {
    /// Exchanges words with the other leader.
    fn exchange(&self, words: &[u64]) -> Result<Vec<u64>> {
        oob::connect(self.process)?;
        oob::send(self.process, self.there, words)?;
        let mut message = None;
        block_on(|| {
            message = oob::take_or_fail(self.process, self.here)?;
            Ok(message.is_some())
        })?;
        Ok(message.unwrap_or_default())
    }
}

/// The names of the other group's members, and their context numbers.
fn names(message: &[u64]) -> Result<Vec<(ProcessName, u32)>> {
    let (members, rest) = message.as_chunks::<WORDS>();
    if members.is_empty() || !rest.is_empty() {
        return Err(not_understood());
    }
    let member = |[job, rank, context]: &[u64; WORDS]| (ProcessName { job: *job, rank: *rank as u32 }, *context as u32);
    Ok(members.iter().map(member).collect())
}

fn of_own_job((name, context): (ProcessName, u32)) -> Result<Member> {
    let process = process::find(name).ok_or_else(not_understood)?;
    Ok(Member { process, context })
}

fn not_understood() -> Fault {
    let why = "the leader of the other group sent a message that cannot be understood";
    Fault::new(Class::Intern).because(why)
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
