//! Waiting for words that other processes change, and waking those that wait.

use crate::comm::Communicator;
use crate::error::Result;
use crate::process;
use crate::shared_pool::Neighbor;
use alloc::boxed::Box;
use opal_core::wait::{self, Backoff, Subject, awaiting};

/// The other processes of a window: how they are woken.
pub struct Peers(Box<[(u32, Peer)]>);

enum Peer {
    Me,
    Neighbor(Neighbor),
    /// Nothing of btl/sm leads to it: it looks by itself.
    Looks,
}

impl Peers {
    /// `None` if one of them is on another node.
    pub fn of(comm: &Communicator) -> Option<Peers> {
        let peer = |index| {
            let process = process::get(index);
            let peer = match Neighbor::of(index) {
                _ if process.is_self => Some(Peer::Me),
                Some(neighbor) => Some(Peer::Neighbor(neighbor)),
                None => process.same_node.then_some(Peer::Looks),
            };
            Some((index, peer?))
        };
        comm.group.members().iter().map(peer).collect::<Option<Box<_>>>().map(Peers)
    }

    /// Sees to it that this process wakes up by itself where others cannot wake it.
    pub fn get_ready(&self) {
        if self.0.iter().any(|(_, peer)| matches!(peer, Peer::Looks)) {
            wait::shorten_sleeps();
        }
    }

    /// Of a test that has no processes.
    #[cfg(test)]
    pub fn none() -> Peers {
        Peers(Box::new([]))
    }

    /// The index of a rank's process; `None` if there is no such rank.
    pub fn process(&self, rank: usize) -> Option<u32> {
        self.0.get(rank).map(|(process, _)| *process)
    }

    /// Something was stored that a rank may wait for.
    pub fn notify(&self, rank: usize) {
        match &self.0[rank].1 {
            Peer::Neighbor(neighbor) => neighbor.notify(),
            Peer::Me => wait::wake_threads(),
            Peer::Looks => {}
        }
    }

    /// The same for all ranks.
    pub fn notify_all(&self) {
        (0..self.0.len()).for_each(|rank| self.notify(rank));
    }
}

/// Waits for something that no pass of progress sees.
pub fn until(done: impl Fn() -> bool, subject: impl Fn() -> Subject) -> Result<()> {
    let mut backoff = Backoff::new();
    let mut awaited = awaiting(&done, subject);
    while !done() {
        backoff.step_unless_done(&mut awaited)?;
    }
    Ok(())
}
