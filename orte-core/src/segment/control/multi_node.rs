//! The words by which a node's ranks and its launcher work together in a job over several nodes: addresses, barrier,
//! lost ranks.
//!
//! The launcher waits for descriptors, not for words. So the last rank of the node that publishes or reaches a barrier
//! wakes it by a socket: the calls here return whether that is due.

use super::{Control, Missed, Patience, Shared};
use crate::segment::layout::{
    BARRIER_ARRIVED, BARRIER_GENERATION, ELSEWHERE, EPOCH, LOST, LOST_LIST, LOST_MAX, PUBLISHED, REACHED,
};
use opal_core::sync::{Ordering, fence};
use opal_core::{Error, Result};

impl<S: Shared> Control<S> {
    /// As [`Control::publish`]; true if the launcher is to be woken.
    pub fn publish_to_all(&self, local: u32, addresses: &[u8]) -> Result<bool> {
        self.publish(local, addresses)?;
        let published = self.shared.word(PUBLISHED).fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        // Pairs with the fence in `all_published`: either the launcher sees these addresses, or this rank sees the lost one.
        fence(Ordering::SeqCst);
        Ok(published == self.layout.ranks || self.shared.word(EPOCH).load(Ordering::Relaxed) != 0)
    }

    /// Launcher: whether no rank of this node will publish any more: all have, or are lost.
    pub fn all_published(&self) -> bool {
        fence(Ordering::SeqCst);
        (0..self.layout.ranks).all(|rank| !matches!(self.lookup(rank, 0), Err(Missed::Deadline)))
    }

    /// Launcher: the addresses of the other nodes' ranks are there.
    pub fn set_elsewhere(&self) {
        // Release pairs with the Acquire in `await_elsewhere`: the file is complete and sealed.
        self.shared.word(ELSEWHERE).store(1, Ordering::Release);
        self.shared.wake(ELSEWHERE);
    }

    /// Waits until the addresses of the other nodes' ranks are there, `rank` being the one that is wanted.
    pub fn await_elsewhere(&self, rank: u32, deadline_ns: u64) -> core::result::Result<(), Missed> {
        let mut patience = Patience::new();
        loop {
            // Acquire pairs with the Release in `set_elsewhere`.
            match self.shared.word(ELSEWHERE).load(Ordering::Acquire) {
                0 => {}
                1 => return Ok(()),
                _ => return Err(Missed::Malformed),
            }
            if self.is_lost_elsewhere(rank) {
                return Err(Missed::LostElsewhere(rank));
            }
            if opal_core::sys::monotonic_ns() >= deadline_ns {
                return Err(Missed::Deadline);
            }
            patience.wait(&self.shared, ELSEWHERE, 0);
        }
    }

    /// Waits until every rank of the job came here as often as this one. The last rank of the node wakes the launcher; the launcher of each
    /// node lets its ranks go.
    pub fn barrier_of_all(
        &self,
        local: u32,
        wake_launcher: impl FnOnce(),
        meanwhile: &mut dyn FnMut(),
    ) -> core::result::Result<(), Missed> {
        // As in `barrier`, but it is the launcher that begins the next generation.
        let seen = self.shared.word(BARRIER_GENERATION).load(Ordering::Acquire);
        let arrived = self.shared.word(BARRIER_ARRIVED).fetch_add(1, Ordering::AcqRel).wrapping_add(1);
        if arrived > self.layout.ranks || arrived == 0 {
            return Err(Missed::Malformed);
        }
        if arrived == self.layout.ranks {
            self.shared.word(BARRIER_ARRIVED).store(0, Ordering::Relaxed);
            // Release pairs with the Acquire in `reached`, and by `leave` with that of a rank that sees the new generation.
            self.shared.word(REACHED).fetch_add(1, Ordering::Release);
            wake_launcher();
        }
        self.leave_barrier(local, seen, meanwhile)
    }

    /// Launcher: how many barriers over the job all ranks of this node have reached.
    pub fn reached(&self) -> u32 {
        // Acquire pairs with the Release in `barrier_of_all`.
        self.shared.word(REACHED).load(Ordering::Acquire)
    }

    /// Launcher: lets the ranks of this node leave the barrier over the job.
    pub fn leave(&self) {
        // Release: a rank that sees the new generation sees that none is counted as arrived.
        self.shared.word(BARRIER_GENERATION).fetch_add(1, Ordering::Release);
        self.shared.wake(BARRIER_GENERATION);
    }

    /// Launcher: a rank of another node was lost. `Err(OutOfResource)` if more were than the list has room for.
    pub fn lose_elsewhere(&self, rank: u32) -> Result<()> {
        let count = self.shared.word(LOST).load(Ordering::Relaxed) as usize;
        if count >= LOST_MAX {
            return Err(Error::OutOfResource);
        }
        self.shared.word(LOST_LIST + 4 * count).store(rank, Ordering::Relaxed);
        // Release pairs with the Acquire in `all_lost_elsewhere`.
        self.shared.word(LOST).store(count as u32 + 1, Ordering::Release);
        // Release: a rank that sees the new epoch sees the list.
        self.shared.word(EPOCH).fetch_add(1, Ordering::Release);
        [EPOCH, BARRIER_GENERATION, ELSEWHERE].into_iter().for_each(|offset| self.shared.wake(offset));
        Ok(())
    }

    /// A rank of another node that was lost, if there is one.
    pub(super) fn lost_elsewhere(&self) -> Option<u32> {
        self.all_lost_elsewhere().next()
    }

    /// Whether a rank of another node was lost, as far as this node was told.
    pub fn is_lost_elsewhere(&self, rank: u32) -> bool {
        self.all_lost_elsewhere().any(|lost| lost == rank)
    }

    fn all_lost_elsewhere(&self) -> impl Iterator<Item = u32> + '_ {
        // Acquire pairs with the Release in `lose_elsewhere`.
        let count = self.shared.word(LOST).load(Ordering::Acquire) as usize;
        (0..count.min(LOST_MAX)).map(|at| self.shared.word(LOST_LIST + 4 * at).load(Ordering::Relaxed))
    }
}
