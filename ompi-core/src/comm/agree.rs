//! The last step of MPI_Comm_disconnect between processes of different jobs: both decide alike whether they forget each other.
//!
//! Each would forget the other if nothing needs it but communicators that end; another thread may be meeting it just then. Both vote,
//! and they forget each other if neither keeps the other. From its vote to forget the process until the other vote is here nobody meets
//! the other process (`crate::process`). Each votes for each communicator, so what crosses is answered in whatever order threads come
//! to it.
//!
//! A barrier comes before the votes: of several communicators that end at the same time the one of which both processes said so last
//! has two votes to forget.

use super::Communicator;
use crate::error::Result;
use crate::executor;
use crate::framework::pml::subject;
use crate::oob::allgather::{Participant, Participants};
use crate::oob::{self, Conversation, Key};
use crate::process::{self, Parting};
use alloc::vec::Vec;
use opal_core::progress;
use opal_core::wait::{self, Awaited, Subject};

/// Called by all processes, when nothing is on its way any more. `Err` if one of them is gone: then nobody was agreed with, and the others
/// hear that. What comes first of the two ends when the communicator is gone.
pub fn vote(comm: &Communicator) -> (Parting, Result<()>) {
    let all = Participants::of(comm).all;
    let others: Vec<Participant> = all.iter().filter(|one| process::is_beyond_job(one.process)).copied().collect();
    let parting = Parting::begin(others.iter().map(|one| one.process).collect());
    if others.is_empty() {
        return (parting, Ok(()));
    }
    comm.set_ending(true);
    if let Err(fault) = executor::barrier(comm) {
        comm.set_ending(false);
        // Some may have come through.
        others.iter().for_each(|one| send(one, false));
        progress::flush();
        return (parting, Err(fault));
    }
    let mut votes = Votes { comm, parting: &parting, awaited: others.iter().map(|one| (one.process, false)).collect() };
    for (one, (process, forgets)) in others.iter().zip(&mut votes.awaited) {
        *forgets = parting.vote(*process);
        send(one, *forgets);
    }
    progress::flush();
    votes.wait();
    (parting, Ok(()))
}

fn send(to: &Participant, forgets: bool) {
    let key = Key::of(Conversation::Parting, to.context, 0);
    // One that is gone needs no answer, and whoever waits for its own finds out.
    let _ = oob::send(to.process, key, &[u64::from(forgets)]);
}

/// The votes that are not here.
struct Votes<'a> {
    comm: &'a Communicator,
    parting: &'a Parting,
    // Of which process, and whether this one would forget it.
    awaited: Vec<(u32, bool)>,
}

impl Votes<'_> {
    fn wait(&mut self) {
        while wait::until_done(&mut *self).is_err() {
            // The one that was waited for is gone.
            let (process, forgets) = self.awaited.remove(0);
            decide(self.parting, process, forgets, true);
        }
    }
}

impl Awaited for &mut Votes<'_> {
    fn is_done(&mut self) -> bool {
        let (parting, key) = (self.parting, Key::of(Conversation::Parting, self.comm.context, 0));
        self.awaited.retain(|(process, forgets)| {
            let theirs = match oob::take_or_fail(*process, key) {
                Ok(None) => return true,
                Ok(Some(words)) => words == [1],
                // It is gone.
                Err(_) => true,
            };
            decide(parting, *process, *forgets, theirs);
            false
        });
        self.awaited.is_empty()
    }

    fn subject(&self) -> Subject {
        let process = self.awaited.first().map_or(Subject::NO_PROCESS, |(process, _)| *process);
        Subject { process, ..subject::ranks(self.comm.context) }
    }
}

fn decide(parting: &Parting, process: u32, forgets: bool, theirs: bool) {
    if forgets {
        parting.decide(process, theirs);
    }
}
