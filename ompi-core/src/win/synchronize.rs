//! Synchronisation: epochs are checked, then the module does it. MPI 5.0 §12.5.

use super::rank_list::RankList;
use super::{Flavor, Window};
use crate::error::{Class, Fault, Result};
use crate::framework::osc::Lock;
use crate::framework::pml::subject;
use crate::group::Group;
use alloc::format;
use core::ffi::c_int;
use opal_core::sync::{Ordering, fence};
use opal_core::wait;

/// MPI_MODE_NOCHECK.
const NOCHECK: c_int = 1024;
/// MPI_MODE_NOPRECEDE.
const NOPRECEDE: c_int = 2048;
/// MPI_MODE_NOPUT.
const NOPUT: c_int = 4096;
/// MPI_MODE_NOSTORE.
const NOSTORE: c_int = 8192;
/// MPI_MODE_NOSUCCEED.
const NOSUCCEED: c_int = 16384;

impl Window {
    /// MPI_Win_fence.
    pub fn fence(&self, assertion: c_int) -> Result<()> {
        check_assertion(assertion, NOPRECEDE | NOPUT | NOSTORE | NOSUCCEED)?;
        self.epoch.lock().check_over()?;
        let fenced = self.module.fence(assertion & NOPRECEDE == 0);
        // The others are behind it, whatever failed here.
        self.epoch.lock().fence(assertion & NOSUCCEED == 0)?;
        fenced
    }

    /// MPI_Win_start.
    pub fn start(&self, group: &Group, assertion: c_int) -> Result<()> {
        check_assertion(assertion, NOCHECK)?;
        let targets = self.ranks_of(group)?;
        self.epoch.lock().start(targets.clone())?;
        // MPI_MODE_NOCHECK saves nothing: the other side's word comes anyway, and must be taken.
        let started = self.module.start(&targets);
        started.inspect_err(|_| drop(self.epoch.lock().complete()))
    }

    /// MPI_Win_complete.
    pub fn complete(&self) -> Result<()> {
        let targets = self.epoch.lock().complete()?;
        self.module.complete(&targets)
    }

    /// MPI_Win_post.
    pub fn post(&self, group: &Group, assertion: c_int) -> Result<()> {
        check_assertion(assertion, NOCHECK | NOSTORE | NOPUT)?;
        let origins = self.ranks_of(group)?;
        self.epoch.lock().post(origins.clone())?;
        self.module.post(&origins).inspect_err(|_| self.epoch.lock().end_exposure())
    }

    /// MPI_Win_wait.
    pub fn wait(&self) -> Result<()> {
        let origins = self.epoch.lock().exposure()?;
        let mut over = Ok(false);
        let is_over = || {
            over = self.module.is_exposure_over(&origins);
            !matches!(over, Ok(false))
        };
        // Of one origin there is one to wait for.
        let only = || match &origins[..] {
            [one] => self.comm.group.members().get(*one as usize).map(|process| (*one as usize, process)),
            _ => None,
        };
        wait::until_done(wait::awaiting(is_over, || subject::at_window(subject::COMPLETE, only(), 0)))?;
        self.epoch.lock().end_exposure();
        over.map(drop)
    }

    /// MPI_Win_test.
    pub fn test(&self) -> Result<bool> {
        let origins = self.epoch.lock().exposure()?;
        opal_core::progress::flush();
        let mut over = self.module.is_exposure_over(&origins)?;
        if !over {
            wait::polled_progress();
            over = self.module.is_exposure_over(&origins)?;
        }
        if over {
            self.epoch.lock().end_exposure();
        }
        Ok(over)
    }

    /// MPI_Win_lock; nothing is done for MPI_PROC_NULL.
    pub fn lock(&self, kind: c_int, rank: i32, assertion: c_int) -> Result<()> {
        let lock = Lock::of(kind).ok_or_else(|| {
            let why = format!("{kind} is neither MPI_LOCK_EXCLUSIVE nor MPI_LOCK_SHARED");
            Fault::new(Class::Locktype).argument("lock_type").because(why)
        })?;
        check_assertion(assertion, NOCHECK)?;
        let Some(rank) = self.rank(rank, "rank")? else { return Ok(()) };
        self.check_lockable()?;
        let asks = assertion & NOCHECK == 0;
        self.epoch.lock().lock(rank, asks)?;
        match asks {
            true => self.module.lock(rank, lock).inspect_err(|_| drop(self.epoch.lock().unlock(rank))),
            false => Ok(()),
        }
    }

    /// MPI_Win_unlock.
    pub fn unlock(&self, rank: i32) -> Result<()> {
        let Some(rank) = self.rank(rank, "rank")? else { return Ok(()) };
        let asked = self.epoch.lock().unlock(rank)?;
        wait::polled_memory();
        if asked { self.module.unlock(rank) } else { self.module.flush(Some(rank)) }
    }

    /// MPI_Win_lock_all.
    pub fn lock_all(&self, assertion: c_int) -> Result<()> {
        check_assertion(assertion, NOCHECK)?;
        self.check_lockable()?;
        let asks = assertion & NOCHECK == 0;
        self.epoch.lock().lock_all(asks)?;
        match asks {
            true => self.module.lock_all(self.size()).inspect_err(|_| drop(self.epoch.lock().unlock_all())),
            false => Ok(()),
        }
    }

    /// MPI_Win_unlock_all.
    pub fn unlock_all(&self) -> Result<()> {
        let asked = self.epoch.lock().unlock_all()?;
        wait::polled_memory();
        if asked { self.module.unlock_all(self.size()) } else { self.module.flush(None) }
    }

    /// MPI_Win_flush and, with `None`, MPI_Win_flush_all.
    pub fn flush(&self, rank: Option<i32>) -> Result<()> {
        wait::polled_memory();
        match self.flushed(rank)? {
            Some(ranks) => self.module.flush(ranks),
            None => Ok(()),
        }
    }

    /// MPI_Win_flush_local and MPI_Win_flush_local_all.
    pub fn flush_local(&self, rank: Option<i32>) -> Result<()> {
        match self.flushed(rank)? {
            Some(ranks) => self.module.flush_local(ranks),
            None => Ok(()),
        }
    }

    /// MPI_Win_sync: nothing written before is seen after what comes next, neither here nor by another processor.
    pub fn sync(&self) {
        fence(Ordering::SeqCst);
        wait::polled_memory();
        self.module.sync();
    }

    /// Whose accesses to flush; `None` for MPI_PROC_NULL.
    fn flushed(&self, rank: Option<i32>) -> Result<Option<Option<usize>>> {
        let rank = match rank {
            None => None,
            Some(rank) => match self.rank(rank, "rank")? {
                None => return Ok(None),
                rank => rank,
            },
        };
        self.epoch.lock().check_flush(rank)?;
        Ok(Some(rank))
    }

    /// Whether no hint promises that nobody locks it.
    #[inline(always)]
    pub(super) fn admits_locks(&self) -> bool {
        !self.hints.no_locks() || self.flavor == Flavor::Shared
    }

    fn check_lockable(&self) -> Result<()> {
        match self.admits_locks() {
            true => Ok(()),
            false => {
                let why = "the window's info promises no_locks";
                Err(Fault::new(Class::RmaSync).argument("win").because(why))
            }
        }
    }

    /// The ranks of a group's members.
    fn ranks_of(&self, group: &Group) -> Result<RankList> {
        let rank = |member| self.group.rank_of(member).map(|rank| rank as u32);
        RankList::of(group.members().len(), group.members().iter().map(rank)).ok_or_else(|| {
            let why = "the group has a process that is no member of the window's group";
            Fault::new(Class::Group).argument("group").because(why)
        })
    }
}

fn check_assertion(assertion: c_int, allowed: c_int) -> Result<()> {
    match assertion & !allowed {
        0 => Ok(()),
        strange => {
            let why = format!("{strange} is no assertion for this call");
            Err(Fault::new(Class::Assert).argument("assert").because(why))
        }
    }
}
