//! Reservation of context numbers (CIDs), and the exchange by which the members of a new communicator learn each other's.
//!
//! Each process numbers its communicators for itself. Before a communicator is made, each member reserves a number, and
//! an allgather over the parent tells it to the other members.

use super::{Communicator, context};
use crate::error::{Class, Fault, Result};
use crate::framework::pml;
use crate::group::{Group, is_first};
use crate::oob::Conversation;
use crate::oob::allgather::{Allgather, Participant};
use alloc::sync::Arc;
use alloc::vec::Vec;

/// A process of the new communicator and its context number there.
pub type Member = Participant;

/// A context number for a communicator that is being made; given back if that fails.
pub struct Reservation {
    /// The number.
    pub number: u32,
    /// The session of the group that the communicator comes from.
    pub(super) session: usize,
    used: bool,
}

impl Reservation {
    /// Takes a number for a communicator that comes from this group.
    pub fn new(from: &Group) -> Result<Reservation> {
        let number = context::allocate()
            .ok_or_else(|| Fault::new(Class::Other).because("all context numbers are in use; free communicators"))?;
        pml::selected().open_context(number).inspect_err(|_| context::release(number))?;
        Ok(Reservation { number, session: from.session(), used: false })
    }

    /// The communicator of these groups, while the numbers of the other members are not known.
    pub fn pending(mut self, local: Arc<Group>, remote: Option<Arc<Group>>, errhandler: usize) -> Communicator {
        self.used = true;
        Communicator::pending(local, remote, self.number, errhandler)
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if !self.used {
            pml::selected().close_context(self.number);
            context::release(self.number);
        }
    }
}

/// The values of all members of a communicator, by rank.
pub struct Received<const N: usize> {
    /// Values of the own group.
    pub local: Vec<[u64; N]>,
    /// Values of the other group, if there is one.
    pub remote: Vec<[u64; N]>,
}

impl<const N: usize> Received<N> {
    /// Sorts the words of [`Participants::of`](crate::oob::allgather::Participants::of) the communicator by group.
    pub fn sort(group: &Group, remote: Option<&Group>, mut words: Vec<[u64; N]>) -> Received<N> {
        let Some(remote) = remote else { return Received { local: words, remote: Vec::new() } };
        if is_first(group.members(), remote.members()) {
            let rest = words.split_off(group.size());
            return Received { local: words, remote: rest };
        }
        let local = words.split_off(remote.size());
        Received { local, remote: words }
    }
}

/// Exchanges values with all members of a communicator.
pub fn exchange<const N: usize>(parent: &Communicator, mine: [u64; N]) -> Result<Received<N>> {
    let words = Allgather::about(parent, Conversation::Collective, parent.next_constructor(), &mine).wait::<N>()?;
    Ok(Received::sort(&parent.group, parent.remote.as_deref(), words))
}

/// The members of a group with the context numbers that are their first words; 0 where none is known yet.
pub fn members<const N: usize>(group: &Group, words: &[[u64; N]]) -> Vec<Member> {
    let number = |rank: usize| words.get(rank).map_or(0, |words| words[0] as u32);
    let processes = group.members().iter().enumerate();
    processes.map(|(rank, process)| Member { process, context: number(rank) }).collect()
}
