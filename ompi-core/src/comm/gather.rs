//! Everybody's words for everybody, without a communicator's help: an allgather over letters that is moved on by polls, so
//! that it can run beside everything else.
//!
//! In the round of distance d every party passes on the words of the d parties from itself on, and so knows those of 2·d
//! (Bruck et al. 1997, doi:10.1109/71.642949): ceil(log2 n) rounds.

use super::Communicator;
use super::mail::{self, Kind, Subject};
use crate::error::{Class, Fault, Result};
use alloc::sync::Arc;
use alloc::vec::Vec;
use opal_core::{progress, wait};

/// A process, and the context number under which it knows what is talked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Party {
    /// Index of the process.
    pub process: u32,
    /// Its own context number for the conversation.
    pub context: u32,
}

/// Who talks: the same list in the same order for all of them.
#[derive(Clone, Debug)]
pub struct Parties {
    /// All of them.
    pub all: Arc<[Party]>,
    /// This process's place.
    pub me: usize,
}

impl Parties {
    /// All processes of a communicator; of an intercommunicator those of both groups, the one with the lower first
    /// process first.
    pub fn of(comm: &Communicator) -> Parties {
        let party = |(process, context): (&u32, &u32)| Party { process: *process, context: *context };
        let rank = comm.rank as usize;
        let Some(remote) = &comm.remote else {
            let all = comm.group.members().iter().zip(comm.peer_contexts()).map(party).collect();
            return Parties { all, me: rank };
        };
        let here = comm.group.members().iter().zip(comm.local_contexts()).map(party);
        let there = remote.members().iter().zip(comm.peer_contexts()).map(party);
        match is_first(comm.group.members(), remote.members()) {
            true => Parties { all: here.chain(there).collect(), me: rank },
            false => Parties { all: there.chain(here).collect(), me: remote.size() + rank },
        }
    }
}

/// Which of two groups that share no process comes first, for all who ask.
pub fn is_first(group: &[u32], other: &[u32]) -> bool {
    group.first() < other.first()
}

/// An allgather under way.
pub struct Gather {
    parties: Parties,
    subject: Subject,
    width: usize,
    // Those of this party, then of the next one, and so on round.
    words: Vec<u64>,
    distance: usize,
    sent: bool,
}

impl Gather {
    /// Begins one; all contribute as many words.
    pub fn new(parties: Parties, subject: Subject, words: &[u64]) -> Gather {
        Gather { parties, subject, width: words.len(), words: words.into(), distance: 1, sent: false }
    }

    /// About a communicator, `number` being different for each conversation of this kind about it.
    pub fn about(comm: &Communicator, kind: Kind, number: u64, words: &[u64]) -> Gather {
        Gather::new(Parties::of(comm), Subject::of(kind, comm.context, number), words)
    }

    /// Tries to move it on; true when it is done.
    pub fn poll(&mut self) -> Result<bool> {
        let Parties { all, me } = &self.parties;
        while self.distance < all.len() {
            let blocks = self.distance.min(all.len() - self.distance);
            let from = all[(me + self.distance) % all.len()];
            if !self.sent {
                let to = all[(me + all.len() - self.distance) % all.len()];
                mail::expect(from.process)?;
                mail::send(to.process, self.subject.at(to.context), &self.words[..blocks * self.width])?;
                self.sent = true;
            }
            let Some(letter) = mail::awaited(from.process, self.subject.at(all[*me].context))? else {
                return Ok(false);
            };
            if letter.len() != blocks * self.width {
                let why = "the processes do not agree about the communicator they make; do all make the same calls?";
                return Err(Fault::new(Class::Intern).because(why));
            }
            self.words.extend_from_slice(&letter);
            self.distance *= 2;
            self.sent = false;
        }
        Ok(true)
    }

    /// The words of each party in the order of the parties, when it is done.
    pub fn result<const N: usize>(&self) -> Vec<[u64; N]> {
        debug_assert_eq!(N, self.width);
        let parties = self.parties.all.len();
        let of = |party: usize| (party + parties - self.parties.me) % parties * N;
        (0..parties).map(|party| core::array::from_fn(|word| self.words[of(party) + word])).collect()
    }

    /// Words that each party contributes.
    pub fn width(&self) -> usize {
        self.width
    }

    /// One word of each party in the order of the parties, when it is done.
    pub fn word(&self, index: usize) -> Vec<u64> {
        let parties = self.parties.all.len();
        let of = |party: usize| (party + parties - self.parties.me) % parties * self.width;
        (0..parties).map(|party| self.words[of(party) + index]).collect()
    }

    /// The bits of each word that all parties have in common, when it is done.
    pub fn common(&self) -> Vec<u64> {
        (0..self.width)
            .map(|word| self.words.iter().skip(word).step_by(self.width).fold(u64::MAX, |all, bits| all & bits))
            .collect()
    }

    /// Waits until it is done.
    pub fn wait<const N: usize>(mut self) -> Result<Vec<[u64; N]>> {
        finished(|| self.poll())?;
        Ok(self.result())
    }
}

/// Waits until `poll` is done or fails.
pub fn finished(mut poll: impl FnMut() -> Result<bool>) -> Result<()> {
    let mut last = Ok(false);
    progress::flush();
    wait::until(|| {
        last = poll();
        progress::flush();
        !matches!(last, Ok(false))
    })?;
    last.map(drop)
}

/// Gives all parties the words of one, along a binomial tree. The others pass an empty list.
pub fn spread(parties: &Parties, subject: Subject, root: usize, words: Vec<u64>) -> Result<Vec<u64>> {
    let size = parties.all.len();
    let party = |place: usize| parties.all[(place + root) % size];
    let place = (parties.me + size - root) % size;
    let mut words = words;
    // The lowest bit of the place leads to the parent.
    let parent_bit = if place == 0 { size.next_power_of_two() } else { place & place.wrapping_neg() };
    if place != 0 {
        let (parent, mine) = (party(place - parent_bit), subject.at(party(place).context));
        mail::expect(parent.process)?;
        let mut letter = None;
        finished(|| {
            letter = mail::awaited(parent.process, mine)?;
            Ok(letter.is_some())
        })?;
        words = letter.unwrap_or_default();
    }
    let mut bit = parent_bit / 2;
    while bit > 0 {
        if place + bit < size {
            let child = party(place + bit);
            mail::send(child.process, subject.at(child.context), &words)?;
        }
        bit /= 2;
    }
    progress::flush();
    Ok(words)
}
