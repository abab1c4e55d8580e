//! The module of one window: it synchronises by the shared words, and accesses are done at once, in whatever way a component reaches
//! the memory of a target.
#![allow(unsafe_code)] // the unsafe methods of the traits

use super::peers::{self, Peers};
use super::words::Words;
use super::{locks, no_memory};
use crate::comm::Communicator;
use crate::error::{Class, Result};
use crate::executor;
use crate::framework::osc::{self, Access, Accumulates, DirectMemory, Lock, Module, Target};
use crate::framework::pml::subject;
use crate::request::{self, Request};
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use opal_core::sync::{ConditionalLock, Ordering, fence};

/// How a component reaches the memory of the processes of a window.
pub trait Reach: Send + Sync {
    /// Where a process's memory lies for loads and stores of this one, and its length.
    fn mapped(&self, rank: usize) -> Option<(*mut u8, usize)>;

    /// Does an access; it is complete here and there when this returns.
    ///
    /// # Safety
    /// That of [`Module::access`].
    unsafe fn access(&self, words: &Words, access: &Access<'_>, target: &Target<'_>) -> Result<()>;

    /// Adds memory to a dynamic window.
    fn attach(&self, _words: &Words, _base: *mut u8, _bytes: usize) -> Result<()> {
        Err(Class::RmaFlavor.into())
    }

    /// Takes memory away.
    fn detach(&self, _words: &Words, _base: *mut u8) -> Result<()> {
        Err(Class::RmaFlavor.into())
    }
}

/// Serves one window.
pub struct NodeModule<R> {
    comm: Arc<Communicator>,
    me: usize,
    words: Words,
    peers: Peers,
    known: ConditionalLock<Known>,
    reach: R,
}

/// What this process remembers of each rank.
struct Known {
    /// The lock that it has of it.
    held: Vec<Option<Lock>>,
    /// Whether it has the shared lock of all as one.
    shares_all: bool,
    /// How many of its posts, and of its completes, were taken notice of.
    posts: Vec<u64>,
    completes: Vec<u64>,
    /// How often this process has posted for it, and completed. Nobody else writes those words: a store that nothing waits for does.
    posted: Vec<u64>,
    completed: Vec<u64>,
}

impl<R: Reach> NodeModule<R> {
    /// Of words that all processes have mapped.
    pub fn new(comm: Arc<Communicator>, words: Words, reach: R) -> Result<NodeModule<R>> {
        let peers = Peers::of(&comm).ok_or_else(no_memory)?;
        peers.get_ready();
        let ranks = comm.size();
        let none = || vec![0; ranks];
        let known = Known {
            held: vec![None; ranks],
            shares_all: false,
            posts: none(),
            completes: none(),
            posted: none(),
            completed: none(),
        };
        Ok(NodeModule { me: comm.rank as usize, comm, words, peers, known: ConditionalLock::new(known), reach })
    }
}

impl<R: Reach> Module for NodeModule<R> {
    fn base(&self) -> *mut u8 {
        self.reach.mapped(self.me).map_or(core::ptr::null_mut(), |(at, _)| at)
    }

    fn shared(&self, rank: usize) -> Option<(*mut u8, usize)> {
        self.reach.mapped(rank)
    }

    fn direct(&self, rank: usize) -> Option<DirectMemory<'_>> {
        let (at, _) = self.reach.mapped(rank)?;
        let accumulates = Accumulates {
            gate: self.words.gate(),
            by_instruction: self.words.by_instruction(),
            lock: self.words.accumulate_lock(rank),
        };
        Some(DirectMemory { at, accumulates })
    }

    unsafe fn access(&self, access: &Access<'_>, target: &Target<'_>, wanted: bool) -> Result<Option<Request>> {
        // SAFETY: the caller's promise.
        unsafe { self.reach.access(&self.words, access, target)? };
        Ok(wanted.then(request::done))
    }

    fn fence(&self, _completes: bool) -> Result<()> {
        // Copies before the barrier are seen after it: each process stores a word there, and loads one of each other process's. A full fence
        // would only hold up the word until the lines of the copies have come: it can be under way meanwhile.
        fence(Ordering::Release);
        executor::barrier(&self.comm)
    }

    fn start(&self, targets: &[u32]) -> Result<()> {
        for target in targets.iter().map(|target| *target as usize) {
            let seen = self.known.lock().posts[target];
            // Acquire pairs with the Release in `post`.
            let posted = || self.words.posts(target, self.me).load(Ordering::Acquire) > seen;
            let subject = || {
                let process = self.peers.process(target);
                subject::at_window(subject::POST, process.map(|process| (target, process)), target)
            };
            peers::until(posted, subject)?;
            self.known.lock().posts[target] += 1;
        }
        Ok(())
    }

    fn complete(&self, targets: &[u32]) -> Result<()> {
        for target in targets.iter().map(|target| *target as usize) {
            let completed = one_more(&mut self.known.lock().completed[target]);
            self.words.completes(self.me, target).store(completed, Ordering::Release);
            self.peers.notify(target);
        }
        Ok(())
    }

    fn post(&self, origins: &[u32]) -> Result<()> {
        for origin in origins.iter().map(|origin| *origin as usize) {
            let posted = one_more(&mut self.known.lock().posted[origin]);
            self.words.posts(self.me, origin).store(posted, Ordering::Release);
            self.peers.notify(origin);
        }
        Ok(())
    }

    fn is_exposure_over(&self, origins: &[u32]) -> Result<bool> {
        let mut known = self.known.lock();
        // Acquire pairs with the Release in `complete`.
        let ended = |origin: usize| self.words.completes(origin, self.me).load(Ordering::Acquire);
        let over = origins.iter().all(|origin| ended(*origin as usize) > known.completes[*origin as usize]);
        if over {
            origins.iter().for_each(|origin| known.completes[*origin as usize] += 1);
        }
        Ok(over)
    }

    fn try_lock(&self, rank: usize, lock: Lock) -> bool {
        let is_taken = locks::try_lock(&self.words, rank, lock, self.me, &self.peers);
        if is_taken {
            self.known.lock().held[rank] = Some(lock);
        }
        is_taken
    }

    fn lock(&self, rank: usize, lock: Lock) -> Result<()> {
        locks::lock(&self.words, rank, lock, self.me, &self.peers)?;
        self.known.lock().held[rank] = Some(lock);
        Ok(())
    }

    fn unlock(&self, rank: usize) -> Result<()> {
        let held = self.known.lock().held[rank].take().ok_or(Class::RmaSync)?;
        locks::unlock(&self.words, rank, held, &self.peers);
        Ok(())
    }

    fn lock_all(&self, ranks: usize) -> Result<()> {
        match locks::try_share_all(&self.words, self.me, &self.peers) {
            true => self.known.lock().shares_all = true,
            false => osc::lock_each(self, ranks)?,
        }
        Ok(())
    }

    fn unlock_all(&self, ranks: usize) -> Result<()> {
        let shares_all = core::mem::take(&mut self.known.lock().shares_all);
        match shares_all {
            true => locks::end_share_all(&self.words, self.me, &self.peers),
            false => osc::unlock_each(self, ranks)?,
        }
        Ok(())
    }

    fn flush(&self, _rank: Option<usize>) -> Result<()> {
        // Two processes that put, flush and get each other's memory do not both find the old values.
        fence(Ordering::SeqCst);
        Ok(())
    }

    fn flush_local(&self, _rank: Option<usize>) -> Result<()> {
        Ok(())
    }

    fn attach(&self, base: *mut u8, bytes: usize) -> Result<()> {
        self.reach.attach(&self.words, base, bytes)
    }

    fn detach(&self, base: *mut u8) -> Result<()> {
        self.reach.detach(&self.words, base)
    }

    fn close(&self) -> Result<()> {
        Ok(())
    }
}

fn one_more(count: &mut u64) -> u64 {
    *count += 1;
    *count
}
