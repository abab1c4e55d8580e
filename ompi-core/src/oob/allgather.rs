//! An allgather of words over out-of-band messages, without a communicator. Polls move it on, so that it can run beside
//! everything else.
//!
//! In the round of distance d every participant passes on the words of the d participants from itself on, and so knows those of 2·d
//! (Bruck et al. 1997, doi:10.1109/71.642949): ceil(log2 n) rounds.

use crate::comm::Communicator;
use crate::error::{Class, Fault, Result};
use crate::framework::pml::subject;
use crate::group::is_first;
use crate::oob::{self, Conversation, Key};
use alloc::sync::Arc;
use alloc::vec::Vec;
use opal_core::wait::{Awaited, Subject};
use opal_core::{progress, wait};

/// A process, and the context number under which it knows what is talked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Participant {
    /// Index of the process.
    pub process: u32,
    /// Its own context number for the conversation.
    pub context: u32,
}

/// The processes that take part: the same list in the same order for all of them.
#[derive(Clone, Debug)]
pub struct Participants {
    /// All of them.
    pub all: Arc<[Participant]>,
    /// This process's place.
    pub me: usize,
}

impl Participants {
    /// All processes of a communicator; of an intercommunicator those of both groups, the one with the lower first
    /// process first.
    pub fn of(comm: &Communicator) -> Participants {
        let participant = |(process, context)| Participant { process, context };
        let rank = comm.rank as usize;
        let Some(remote) = &comm.remote else {
            let all = comm.group.members().iter().zip(comm.peer_contexts().iter()).map(participant).collect();
            return Participants { all, me: rank };
        };
        let here = comm.group.members().iter().zip(comm.local_contexts().iter()).map(participant);
        let there = remote.members().iter().zip(comm.peer_contexts().iter()).map(participant);
        match is_first(comm.group.members(), remote.members()) {
            true => Participants { all: here.chain(there).collect(), me: rank },
            false => Participants { all: there.chain(here).collect(), me: remote.size() + rank },
        }
    }
}

/// An allgather under way.
pub struct Allgather {
    participants: Participants,
    key: Key,
    width: usize,
    // Those of this participant, then of the next one, and so on round.
    words: Vec<u64>,
    distance: usize,
    sent: bool,
}

impl Allgather {
    /// Begins one; all contribute as many words.
    pub fn new(participants: Participants, key: Key, words: &[u64]) -> Allgather {
        Allgather { participants, key, width: words.len(), words: words.into(), distance: 1, sent: false }
    }

    /// About a communicator, `number` being different for each allgather of the conversation.
    pub fn about(comm: &Communicator, conversation: Conversation, number: u64, words: &[u64]) -> Allgather {
        Allgather::new(Participants::of(comm), Key::of(conversation, comm.context, number), words)
    }

    /// Tries to move it on; true when it is done.
    pub fn poll(&mut self) -> Result<bool> {
        let Participants { all, me } = &self.participants;
        while self.distance < all.len() {
            let blocks = self.distance.min(all.len() - self.distance);
            let from = all[(me + self.distance) % all.len()];
            if !self.sent {
                let to = all[(me + all.len() - self.distance) % all.len()];
                oob::connect(from.process)?;
                oob::send(to.process, self.key.at(to.context), &self.words[..blocks * self.width])?;
                self.sent = true;
            }
            let Some(message) = oob::take_or_fail(from.process, self.key.at(all[*me].context))? else {
                return Ok(false);
            };
            if message.len() != blocks * self.width {
                let why = "the processes do not agree about the communicator they make; do all make the same calls?";
                return Err(Fault::new(Class::NotSame).because(why));
            }
            self.words.extend_from_slice(&message);
            self.distance *= 2;
            self.sent = false;
        }
        Ok(true)
    }

    /// The words of each participant in the order of the participants, when it is done.
    pub fn result<const N: usize>(&self) -> Vec<[u64; N]> {
        debug_assert_eq!(N, self.width);
        let participants = self.participants.all.len();
        let of = |participant: usize| (participant + participants - self.participants.me) % participants * N;
        (0..participants).map(|participant| core::array::from_fn(|word| self.words[of(participant) + word])).collect()
    }

    /// Words that each participant contributes.
    pub fn width(&self) -> usize {
        self.width
    }

    /// One word of each participant in the order of the participants, when it is done.
    pub fn word(&self, index: usize) -> Vec<u64> {
        let participants = self.participants.all.len();
        let of = |participant: usize| (participant + participants - self.participants.me) % participants * self.width;
        (0..participants).map(|participant| self.words[of(participant) + index]).collect()
    }

    /// The bits of each word that all participants have in common, when it is done.
    pub fn common(&self) -> Vec<u64> {
        (0..self.width)
            .map(|word| self.words.iter().skip(word).step_by(self.width).fold(u64::MAX, |all, bits| all & bits))
            .collect()
    }

    /// Waits until it is done.
    pub fn wait<const N: usize>(mut self) -> Result<Vec<[u64; N]>> {
        finish(&mut self, Allgather::poll, Allgather::subject)?;
        Ok(self.result())
    }

    /// What the next step waits for.
    pub fn subject(&self) -> Subject {
        let Participants { all, me } = &self.participants;
        let from = (me + self.distance) % all.len();
        subject::message(from as i32, Some(all[from].process), 0, all[*me].context, true)
    }
}

/// Waits until something is done that `poll` moves on, or fails; `subject` is what its next step waits for.
pub fn finish<T>(what: &mut T, poll: fn(&mut T) -> Result<bool>, subject: fn(&T) -> Subject) -> Result<()> {
    let mut last = Ok(false);
    progress::flush();
    wait::until_done(Unfinished { what, poll, subject, last: &mut last })?;
    last.map(drop)
}

struct Unfinished<'a, T> {
    what: &'a mut T,
    poll: fn(&mut T) -> Result<bool>,
    subject: fn(&T) -> Subject,
    last: &'a mut Result<bool>,
}

impl<T> Awaited for Unfinished<'_, T> {
    fn is_done(&mut self) -> bool {
        *self.last = (self.poll)(self.what);
        progress::flush();
        !matches!(self.last, Ok(false))
    }

    fn subject(&self) -> Subject {
        (self.subject)(self.what)
    }
}

/// As [`finish`], of something that does not say what it waits for.
pub fn block_on(mut poll: impl FnMut() -> Result<bool>) -> Result<()> {
    finish(&mut poll, |poll| poll(), |_| Subject::UNKNOWN)
}

/// Gives all participants the words of one, along a binomial tree. The others pass an empty list.
pub fn broadcast(participants: &Participants, key: Key, root: usize, words: Vec<u64>) -> Result<Vec<u64>> {
    let size = participants.all.len();
    let participant = |place: usize| participants.all[(place + root) % size];
    let place = (participants.me + size - root) % size;
    let mut words = words;
    // The lowest bit of the place leads to the parent.
    let parent_bit = if place == 0 { size.next_power_of_two() } else { place & place.wrapping_neg() };
    if place != 0 {
        let (parent, mine) = (participant(place - parent_bit), key.at(participant(place).context));
        oob::connect(parent.process)?;
        let mut message = None;
        block_on(|| {
            message = oob::take_or_fail(parent.process, mine)?;
            Ok(message.is_some())
        })?;
        words = message.unwrap_or_default();
    }
    let mut bit = parent_bit / 2;
    while bit > 0 {
        if place + bit < size {
            let child = participant(place + bit);
            oob::send(child.process, key.at(child.context), &words)?;
        }
        bit /= 2;
    }
    progress::flush();
    Ok(words)
}
