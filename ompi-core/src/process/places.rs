//! The table of processes of other jobs: who needs each of them, and how far both sides are with leaving each other.
//!
//! ```text
//!              vote to forget: waits for the other side's
//!             ┌──────────────┐
//!  met ─▶ Connected ◀────────┘ one side keeps the other
//!             │ both forget
//!             ▼
//!         Forgotten ── no MPI_Comm_disconnect needs the connection any more ──▶ Leaving ──▶ Left ──▶ free
//! ```
//!
//! From the vote to [`State::Left`] nobody meets the process: [`Places::find_or_add`] says so, and the caller waits.

use alloc::sync::Arc;
use alloc::vec::Vec;
use opal_core::framework::btl::ProcessName;

/// A process of another job, as it says itself who it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Met {
    /// Its name.
    pub name: ProcessName,
    /// It can share memory with this one.
    pub same_node: bool,
    /// A list of [`crate::addresses`].
    pub addresses: Vec<u8>,
}

/// Of other jobs, in the order of their indices.
pub struct Places(Vec<Option<MetProcess>>);

/// What is known of one of them.
pub struct MetProcess {
    /// Who it is.
    pub met: Arc<Met>,
    /// Communicators that it is in, and meetings.
    pub users: usize,
    /// Those of the communicators that all their processes have begun to end by MPI_Comm_disconnect.
    pub ending: usize,
    /// Groups that speak of it; those of the communicators are among them.
    pub holders: usize,
    // Calls of MPI_Comm_disconnect that still send to it or receive from it.
    partings: usize,
    // Votes to forget it whose answer is not here.
    votes: usize,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Connected,
    // Both sides have agreed to forget each other.
    Forgotten,
    // What is kept of it elsewhere goes just now.
    Leaving,
    // Only groups speak of it.
    Left,
    // As `Left`, but a communicator whose handle is gone has it still: what is kept of it elsewhere goes later.
    Held,
}

impl Places {
    /// Whether no process of another job is known.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }

    /// None.
    pub const fn new() -> Places {
        Places(Vec::new())
    }

    /// How many there are, in use or free.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// What is known of the process with this index; `None` if no process has it.
    pub fn get(&self, index: usize) -> Option<&MetProcess> {
        self.0.get(index)?.as_ref()
    }

    /// As [`Places::get`], of one that somebody needs.
    ///
    /// # Panics
    /// If no process has the index.
    pub fn at(&mut self, index: usize) -> &mut MetProcess {
        self.0[index].as_mut().expect("a process that groups speak of is in the table")
    }

    /// The index of a process that this one can talk to.
    pub fn find(&self, name: ProcessName) -> Option<usize> {
        self.position(|place| place.met.name == name && place.state == State::Connected)
    }

    /// The index of a process that is met, and whether it is a new one; `None` while it may be about to be left.
    pub fn find_or_add(&mut self, met: &Met) -> Option<(usize, bool)> {
        let is_same =
            |place: &MetProcess| place.met.name == met.name && !matches!(place.state, State::Left | State::Held);
        if let Some(found) = self.position(is_same) {
            let place = self.at(found);
            return (place.state == State::Connected && place.votes == 0).then_some((found, false));
        }
        let place = MetProcess {
            met: Arc::new(met.clone()),
            users: 0,
            ending: 0,
            holders: 0,
            partings: 0,
            votes: 0,
            state: State::Connected,
        };
        let free = self.0.iter().position(Option::is_none).unwrap_or(self.0.len());
        match self.0.get_mut(free) {
            Some(slot) => *slot = Some(place),
            None => self.0.push(Some(place)),
        }
        Some((free, true))
    }

    /// MPI_Comm_disconnect of one of its communicators begins to end it.
    pub fn begin_parting(&mut self, index: usize) {
        self.at(index).partings += 1;
    }

    /// Whether this process would forget that one: nothing needs it but what is ending. Then [`Places::decide`] is to follow.
    pub fn vote(&mut self, index: usize) -> bool {
        let place = self.at(index);
        let forgets = place.users <= place.ending;
        place.votes += usize::from(forgets);
        forgets
    }

    /// After a vote to forget it: whether it does the same.
    pub fn decide(&mut self, index: usize, is_mutual: bool) {
        let place = self.at(index);
        place.votes -= 1;
        if is_mutual && place.state == State::Connected {
            place.state = State::Forgotten;
        }
    }

    /// After [`Places::begin_parting`], when the communicator is gone. Whether the caller is to end what is kept of the process
    /// elsewhere, and to call [`Places::left`] then.
    pub fn end_parting(&mut self, index: usize) -> bool {
        let place = self.at(index);
        place.partings -= 1;
        if place.state != State::Forgotten || place.partings > 0 {
            return false;
        }
        place.state = if place.users == 0 { State::Leaving } else { State::Held };
        place.state == State::Leaving
    }

    /// Those in no communicator that are connected all the same.
    pub fn idle(&self) -> Vec<usize> {
        let is_idle = |place: &Option<MetProcess>| place.as_ref().is_some_and(MetProcess::is_idle);
        self.0.iter().enumerate().filter(|(_, place)| is_idle(place)).map(|(index, _)| index).collect()
    }

    /// Of those in no communicator any more: all that were agreed to be left, and those of `lost`, which are gone. The caller is to do
    /// as after [`Places::end_parting`].
    pub fn take_unused(&mut self, lost: &[usize]) -> Vec<usize> {
        let mut taken = Vec::new();
        for (index, place) in self.0.iter_mut().enumerate() {
            let Some(place) = place else { continue };
            if place.users == 0 && place.state == State::Held || place.is_idle() && lost.contains(&index) {
                place.state = State::Leaving;
                taken.push(index);
            }
        }
        taken
    }

    /// Nothing is kept of it elsewhere.
    pub fn left(&mut self, index: usize) {
        self.at(index).state = State::Left;
        self.free_if_unused(index);
    }

    /// The index is free when its process was left and nobody speaks of it.
    pub fn free_if_unused(&mut self, index: usize) {
        if let Some(slot) = self.0.get_mut(index)
            && slot.as_ref().is_some_and(|place| place.state == State::Left && place.holders == 0)
        {
            *slot = None;
        }
    }

    fn position(&self, is_one: impl Fn(&MetProcess) -> bool) -> Option<usize> {
        self.0.iter().position(|place| place.as_ref().is_some_and(&is_one))
    }
}

impl MetProcess {
    fn is_idle(&self) -> bool {
        self.state == State::Connected && self.users == 0 && self.partings == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn met() -> Met {
        Met { name: ProcessName { job: 2, rank: 7 }, same_node: false, addresses: Vec::new() }
    }

    fn connected(users: usize) -> Places {
        let mut places = Places::new();
        assert_eq!(places.find_or_add(&met()), Some((0, true)));
        places.at(0).users = users;
        places
    }

    #[test]
    fn nobody_meets_a_process_that_may_be_about_to_be_left() {
        let mut places = connected(1);
        places.begin_parting(0);
        places.at(0).ending = 1;
        assert!(places.vote(0));
        assert_eq!(places.find_or_add(&met()), None);
        places.decide(0, false);
        assert_eq!(places.find_or_add(&met()), Some((0, false)), "the other side keeps this one");
        assert!(places.vote(0));
        places.decide(0, true);
        assert_eq!(places.find_or_add(&met()), None);
        (places.at(0).users, places.at(0).ending) = (0, 0);
        assert!(places.end_parting(0));
        assert_eq!(places.find_or_add(&met()), None);
        places.at(0).holders = 1;
        places.left(0);
        assert_eq!(places.find_or_add(&met()), Some((1, true)), "it is met afresh");
    }

    #[test]
    fn what_another_thread_is_meeting_is_kept() {
        let mut places = connected(1);
        places.begin_parting(0);
        (places.at(0).users, places.at(0).ending) = (2, 1);
        assert!(!places.vote(0));
        (places.at(0).users, places.at(0).ending) = (1, 0);
        assert!(!places.end_parting(0));
        assert_eq!(places.find(met().name), Some(0));
    }

    #[test]
    fn of_several_threads_that_disconnect_the_last_one_leaves() {
        let mut places = connected(2);
        places.begin_parting(0);
        places.begin_parting(0);
        places.at(0).ending = 2;
        assert!(places.vote(0) && places.vote(0));
        places.decide(0, true);
        (places.at(0).users, places.at(0).ending) = (1, 1);
        assert!(!places.end_parting(0), "the other one still waits for an answer");
        places.decide(0, false);
        (places.at(0).users, places.at(0).ending) = (0, 0);
        assert!(places.end_parting(0));
    }

    #[test]
    fn a_communicator_that_a_request_keeps_delays_the_end() {
        let mut places = connected(1);
        places.begin_parting(0);
        places.at(0).ending = 1;
        assert!(places.vote(0));
        places.decide(0, true);
        assert!(!places.end_parting(0) && places.take_unused(&[]).is_empty());
        assert_eq!(places.find_or_add(&met()), Some((1, true)), "the other side has left");
        places.at(0).users = 0;
        assert_eq!(places.take_unused(&[]), [0]);
        places.left(0);
        assert!(places.get(0).is_none());
    }

    #[test]
    fn of_those_in_no_communicator_the_lost_go() {
        let mut places = connected(0);
        assert_eq!((places.idle(), places.take_unused(&[])), (Vec::from([0]), Vec::new()));
        assert_eq!(places.take_unused(&[0]), [0]);
        assert!(places.idle().is_empty());
        let mut places = connected(1);
        assert!(places.idle().is_empty() && places.take_unused(&[0]).is_empty());
    }
}
