//! Which accesses and synchronisations are allowed now: the epochs of one process at one window. MPI 5.0 §12.5.

use super::rank_list::RankList;
use crate::error::{Class, Fault, Result};
use alloc::format;
use alloc::vec::Vec;

/// The epochs that are open.
#[derive(Default)]
pub struct Epoch {
    /// This process's rank.
    me: usize,
    fence: Fence,
    /// The targets of MPI_Win_start.
    started: Option<RankList>,
    /// The origins of MPI_Win_post.
    posted: Option<RankList>,
    /// Locked targets, and whether a lock was asked for (not with MPI_MODE_NOCHECK).
    locked: Vec<(usize, bool)>,
    /// MPI_Win_lock_all, likewise.
    all: Option<bool>,
}

/// An epoch between two fences is none unless something is accessed in it (MPI 5.0 §12.5.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Fence {
    #[default]
    Closed,
    Open,
    Used,
}

impl Epoch {
    /// Of the process with this rank: none is open.
    pub fn of(me: usize) -> Epoch {
        Epoch { me, ..Epoch::default() }
    }

    /// Refuses an access to a target outside all access epochs; one with a request outside passive ones.
    pub fn check_access(&mut self, rank: usize, with_request: bool) -> Result<()> {
        if self.is_locked(rank) {
            return Ok(());
        }
        if with_request {
            return Err(wrong(
                "an operation with a request needs a lock of its target (MPI_Win_lock, MPI_Win_lock_all)",
            ));
        }
        if let Some(started) = &self.started {
            return match started.contains(&(rank as u32)) {
                true => Ok(()),
                false => Err(wrong(&format!("the group of MPI_Win_start does not contain rank {rank}"))),
            };
        }
        match self.fence {
            Fence::Closed => Err(wrong("no epoch allows it; call MPI_Win_fence, MPI_Win_start or MPI_Win_lock first")),
            Fence::Open | Fence::Used => {
                self.fence = Fence::Used;
                Ok(())
            }
        }
    }

    /// Whether [`Epoch::check_access`] allows an access without a request, which is noted then.
    #[inline(always)]
    pub fn admits(&mut self, rank: usize) -> bool {
        self.all.is_some() || self.check_access(rank, false).is_ok()
    }

    /// A fence: ends its epoch, and begins the next unless nothing succeeds.
    pub fn fence(&mut self, succeeds: bool) -> Result<()> {
        self.check_over()?;
        self.fence = if succeeds { Fence::Open } else { Fence::Closed };
        Ok(())
    }

    /// MPI_Win_start.
    pub fn start(&mut self, targets: RankList) -> Result<()> {
        self.check_no_access()?;
        self.started = Some(targets);
        Ok(())
    }

    /// MPI_Win_complete: the targets.
    pub fn complete(&mut self) -> Result<RankList> {
        self.started.take().ok_or_else(|| wrong("MPI_Win_start was not called before"))
    }

    /// MPI_Win_post.
    pub fn post(&mut self, origins: RankList) -> Result<()> {
        if self.posted.is_some() {
            return Err(wrong("the window is posted already; call MPI_Win_wait first"));
        }
        if self.is_locked(self.me) {
            return Err(wrong(
                "this process has locked its own memory, which must not be exposed then; unlock it first",
            ));
        }
        self.leave_fence()?;
        self.posted = Some(origins);
        Ok(())
    }

    /// The origins of an exposure for MPI_Win_wait and MPI_Win_test.
    pub fn exposure(&self) -> Result<RankList> {
        self.posted.clone().ok_or_else(|| wrong("MPI_Win_post was not called before"))
    }

    /// The exposure is over.
    pub fn end_exposure(&mut self) {
        self.posted = None;
    }

    /// MPI_Win_lock; `asked` is false for MPI_MODE_NOCHECK.
    pub fn lock(&mut self, rank: usize, asked: bool) -> Result<()> {
        if self.is_locked(rank) {
            return Err(wrong(&format!("rank {rank} is locked already")));
        }
        if self.started.is_some() {
            return Err(wrong("an epoch of MPI_Win_start is open; call MPI_Win_complete first"));
        }
        if rank == self.me {
            self.check_not_posted()?;
        }
        self.leave_fence()?;
        self.locked.push((rank, asked));
        Ok(())
    }

    /// Whether a rank is locked by MPI_Win_lock, and a lock was asked for.
    #[inline(always)]
    pub fn holds(&self, rank: usize) -> bool {
        self.locked.contains(&(rank, true))
    }

    /// MPI_Win_unlock: whether a lock was asked for.
    pub fn unlock(&mut self, rank: usize) -> Result<bool> {
        let place = self.locked.iter().position(|(locked, _)| *locked == rank);
        let place = place.ok_or_else(|| wrong(&format!("rank {rank} is not locked by MPI_Win_lock")))?;
        Ok(self.locked.swap_remove(place).1)
    }

    /// MPI_Win_lock_all.
    pub fn lock_all(&mut self, asked: bool) -> Result<()> {
        self.check_no_access()?;
        self.check_not_posted()?;
        self.all = Some(asked);
        Ok(())
    }

    /// MPI_Win_unlock_all.
    pub fn unlock_all(&mut self) -> Result<bool> {
        self.all.take().ok_or_else(|| wrong("MPI_Win_lock_all was not called before"))
    }

    /// Refuses to flush what is not locked; with `None` where nothing is.
    pub fn check_flush(&self, rank: Option<usize>) -> Result<()> {
        let locked = rank.map_or(self.all.is_some() || !self.locked.is_empty(), |rank| self.is_locked(rank));
        match locked {
            true => Ok(()),
            false => Err(wrong("the target is not locked; call MPI_Win_lock or MPI_Win_lock_all first")),
        }
    }

    /// Refuses where an epoch other than that of a fence is open.
    pub fn check_over(&self) -> Result<()> {
        let (open, close) = match self {
            Epoch { all: Some(_), .. } => ("MPI_Win_lock_all", "MPI_Win_unlock_all"),
            Epoch { started: Some(_), .. } => ("MPI_Win_start", "MPI_Win_complete"),
            Epoch { posted: Some(_), .. } => ("MPI_Win_post", "MPI_Win_wait"),
            Epoch { locked, .. } if !locked.is_empty() => ("MPI_Win_lock", "MPI_Win_unlock"),
            _ => return Ok(()),
        };
        Err(wrong(&format!("an epoch of {open} is open; call {close} first")))
    }

    /// Refuses to end the window while an epoch is open; that of a fence is if something was accessed in it.
    pub fn check_free(&self) -> Result<()> {
        self.check_over()?;
        if self.fence == Fence::Used { Err(not_fenced()) } else { Ok(()) }
    }

    fn is_locked(&self, rank: usize) -> bool {
        self.all.is_some() || self.locked.iter().any(|(locked, _)| *locked == rank)
    }

    fn check_no_access(&mut self) -> Result<()> {
        if self.all.is_some() || self.started.is_some() || !self.locked.is_empty() {
            return Err(wrong("an access epoch is open already; end it first"));
        }
        self.leave_fence()
    }

    /// Memory is not locked and exposed at the same time (MPI 5.0 §12.5.3).
    fn check_not_posted(&self) -> Result<()> {
        match self.posted {
            Some(_) => Err(wrong(
                "this process has exposed its memory, which must not be locked then; call MPI_Win_wait first",
            )),
            None => Ok(()),
        }
    }

    fn leave_fence(&mut self) -> Result<()> {
        match self.fence {
            Fence::Used => Err(not_fenced()),
            Fence::Open | Fence::Closed => {
                self.fence = Fence::Closed;
                Ok(())
            }
        }
    }
}

#[cold]
fn not_fenced() -> Fault {
    wrong("accesses since the last MPI_Win_fence are not complete; call it first")
}

#[cold]
fn wrong(why: &str) -> Fault {
    Fault::new(Class::RmaSync).argument("win").because(why)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranks(ranks: &[u32]) -> RankList {
        RankList::of(ranks.len(), ranks.iter().map(|rank| Some(*rank))).unwrap()
    }

    #[test]
    fn accesses_need_an_epoch() {
        let mut epoch = Epoch::default();
        let refused = |result: Result<()>| assert_eq!(result.unwrap_err().get(), Class::RmaSync as i32);
        refused(epoch.check_access(0, false));
        epoch.fence(true).unwrap();
        refused(epoch.check_access(0, true));
        // A fence that nothing came after may be followed by any epoch; what was begun must be fenced first.
        epoch.lock(1, true).unwrap();
        epoch.check_access(1, true).unwrap();
        refused(epoch.check_access(0, false));
        refused(epoch.lock(1, true));
        refused(epoch.fence(true));
        refused(epoch.lock_all(true));
        assert!(epoch.unlock(1).unwrap() && epoch.unlock(1).is_err());
        epoch.fence(true).unwrap();
        epoch.check_access(0, false).unwrap();
        refused(epoch.lock(0, true));
        epoch.fence(false).unwrap();
        refused(epoch.check_access(0, false));
    }

    #[test]
    fn started_and_posted_epochs_are_apart() {
        let mut epoch = Epoch::default();
        epoch.post(ranks(&[2])).unwrap();
        assert!(epoch.post(ranks(&[1])).is_err() && epoch.check_access(2, false).is_err());
        epoch.start(ranks(&[1, 2])).unwrap();
        epoch.check_access(2, false).unwrap();
        assert!(epoch.check_access(0, false).is_err() && epoch.check_over().is_err() && epoch.lock_all(true).is_err());
        assert_eq!(&*epoch.complete().unwrap(), [1, 2]);
        assert!(epoch.complete().is_err() && epoch.check_over().is_err());
        assert_eq!(&*epoch.exposure().unwrap(), [2]);
        epoch.end_exposure();
        epoch.check_over().unwrap();
        assert!(epoch.exposure().is_err() && epoch.check_flush(None).is_err());
        epoch.lock_all(false).unwrap();
        epoch.check_flush(Some(7)).unwrap();
        assert!(!epoch.unlock_all().unwrap());
    }

    #[test]
    fn own_memory_is_locked_or_exposed_and_a_window_ends_outside_epochs() {
        let mut epoch = Epoch::of(1);
        let refused = |result: Result<()>| assert_eq!(result.unwrap_err().get(), Class::RmaSync as i32);
        epoch.lock(0, true).unwrap();
        refused(epoch.check_free());
        epoch.post(ranks(&[0])).unwrap();
        epoch.unlock(0).unwrap();
        refused(epoch.check_free());
        refused(epoch.lock(1, true));
        refused(epoch.lock_all(true));
        epoch.end_exposure();
        epoch.lock(1, false).unwrap();
        refused(epoch.post(ranks(&[0])));
        epoch.unlock(1).unwrap();
        epoch.lock_all(true).unwrap();
        refused(epoch.post(ranks(&[0])));
        refused(epoch.check_free());
        epoch.unlock_all().unwrap();
        epoch.fence(true).unwrap();
        epoch.check_free().unwrap();
        epoch.check_access(0, false).unwrap();
        refused(epoch.check_free());
        refused(epoch.post(ranks(&[0])));
        epoch.fence(true).unwrap();
        epoch.check_free().unwrap();
    }
}
