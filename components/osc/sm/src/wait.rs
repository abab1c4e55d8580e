//! Waiting for words that other processes change, and waking those that wait.

use alloc::boxed::Box;
use ompi_core::comm::Communicator;
use ompi_core::error::Result;
use ompi_core::process;
use ompi_core::shared_pool::Neighbor;
use opal_core::wait::{self, Backoff};

/// The other processes of a window: how they are woken.
pub struct Peers(Box<[Option<Neighbor>]>);

impl Peers {
    /// `None` if one of them shares no memory with this process.
    pub fn of(comm: &Communicator) -> Option<Peers> {
        let neighbor = |index: &u32| match process::get(*index).is_self {
            true => Some(None),
            false => Neighbor::of(*index).map(Some),
        };
        comm.group.members().iter().map(neighbor).collect::<Option<Box<_>>>().map(Peers)
    }

    /// Of a test that has no processes.
    #[cfg(test)]
    pub fn none() -> Peers {
        Peers(Box::new([]))
    }

    /// Something was stored that a rank may wait for.
    pub fn notify(&self, rank: usize) {
        match &self.0[rank] {
            Some(neighbor) => neighbor.notify(),
            None => wait::wake_threads(),
        }
    }

    /// The same for all ranks.
    pub fn notify_all(&self) {
        (0..self.0.len()).for_each(|rank| self.notify(rank));
    }
}

/// Waits for something that no pass of progress sees.
pub fn until(done: impl Fn() -> bool) -> Result<()> {
    let mut backoff = Backoff::new();
    while !done() {
        backoff.step_unless(&done)?;
    }
    Ok(())
}
