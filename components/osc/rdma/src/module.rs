//! The module of one window.
#![allow(unsafe_code)] // the unsafe methods of the framework's trait

use crate::locks;
use crate::peer::{Direction, Peer};
use crate::peer_word::{Combining, PeerWord};
use crate::raw::Distant;
use crate::words::Which;
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;
use ompi_core::comm::Communicator;
use ompi_core::data::Data;
use ompi_core::error::{Class, Fault, Result};
use ompi_core::executor;
use ompi_core::framework::osc::{Access, Lock, Module, Target};
use ompi_core::framework::pml::subject;
use ompi_core::request::{self, Request};
use ompi_core::win::node::{MappedData, perform_under};
use opal_core::framework::rcache::{Lease, Registrations};
use opal_core::shareable::Owned;
use opal_core::sync::{AtomicU64, ConditionalLock, Ordering, fence};
use opal_core::wait::{self, Backoff, ShortSleeps, awaiting};
use opal_core::{progress, wait::Subject};

/// What this process has registered for a window.
pub struct Own {
    /// Where its memory begins.
    pub base: usize,
    /// Its length.
    pub bytes: usize,
    /// Its words.
    pub words: Box<[AtomicU64]>,
    /// Memory that was made for the window.
    pub _made: Option<Owned>,
    /// With whom it is registered.
    pub with: &'static Registrations,
    /// Registrations; none after the end.
    pub leases: Vec<Lease>,
}

impl Drop for Own {
    fn drop(&mut self) {
        self.leases.drain(..).for_each(|lease| self.with.release(lease));
    }
}

/// Serves one window.
pub struct Rdma {
    comm: Arc<Communicator>,
    me: usize,
    // Dropped before what it may be registered with.
    peers: Box<[Peer]>,
    own: Own,
    known: ConditionalLock<Known>,
    // Nobody wakes this process when a word of its changes.
    _sleeps: ShortSleeps,
}

/// What this process remembers of each rank.
struct Known {
    /// The lock that it has of it.
    held: Vec<Option<Lock>>,
    /// How many of its posts, and of its completes, were taken notice of.
    posts: Vec<u64>,
    completes: Vec<u64>,
}

impl Rdma {
    /// Of peers that have told where their memory is.
    pub fn new(comm: Arc<Communicator>, own: Own, peers: Box<[Peer]>) -> Rdma {
        let ranks = peers.len();
        let known = Known { held: vec![None; ranks], posts: vec![0; ranks], completes: vec![0; ranks] };
        let (me, known) = (comm.rank as usize, ConditionalLock::new(known));
        Rdma { me, comm, own, peers, known, _sleeps: ShortSleeps::begin() }
    }

    fn ranks(&self, rank: Option<usize>) -> Range<usize> {
        rank.map_or(0..self.peers.len(), |rank| rank..rank + 1)
    }

    /// What another process, or the fabric, last wrote to one of this process's words.
    fn own_word(&self, which: Which) -> u64 {
        // Acquire: whatever was put before is here, since completions of puts precede the operations on words.
        self.own.words[which.index(self.peers.len())].load(Ordering::Acquire)
    }

    fn word(&self, rank: usize, which: Which) -> PeerWord<'_> {
        PeerWord::new(&self.peers[rank], which, self.peers.len())
    }

    fn settle(&self, rank: Option<usize>) -> Result<()> {
        // All of them, whatever failed: memory of the program's is in use until then.
        self.peers[self.ranks(rank)].iter().map(Peer::settle).fold(Ok(()), Result::and)
    }

    fn combining(&self, rank: usize) -> Result<Combining<'_>> {
        Combining::begin(self.word(rank, Which::AccumulateLock), self.me)
    }
}

impl Module for Rdma {
    fn base(&self) -> *mut u8 {
        core::ptr::with_exposed_provenance_mut(self.own.base)
    }

    fn shared(&self, rank: usize) -> Option<(*mut u8, usize)> {
        (rank == self.me && self.own.base != 0).then(|| (self.base(), self.own.bytes))
    }

    unsafe fn access(&self, access: &Access<'_>, target: &Target<'_>, wanted: bool) -> Result<Option<Request>> {
        let Target { rank, displacement, data } = *target;
        let peer = &self.peers[rank];
        if rank == self.me {
            // The caller has checked that it lies in the part.
            let at = self.base().wrapping_offset((displacement * peer.part.unit) as isize);
            // SAFETY: memory of this process's in the window; the program synchronises accesses to it.
            let place = unsafe { MappedData::new(Data { at, ..data }) };
            // SAFETY: the caller's promise.
            unsafe { perform_under(|| self.combining(rank), access, &place)? };
            if wanted {
                // It is complete, so that to wait for it lets nobody in.
                self.sync();
            }
            return Ok(wanted.then(request::done));
        }
        let place = Distant::new(peer, peer.address(displacement), data);
        let begun = match access {
            // SAFETY: the caller's promise, here and below.
            Access::Put(origin) => unsafe { place.begin(Direction::Put, origin)? },
            // SAFETY: as above.
            Access::Get(result) => unsafe { place.begin(Direction::Get, result)? },
            _ => None,
        };
        match begun {
            Some(operation) if wanted => peer.wait(&operation)?,
            Some(_) => {}
            // SAFETY: as above.
            None => unsafe { perform_under(|| self.combining(rank), access, &place)? },
        }
        Ok(wanted.then(request::done))
    }

    fn fence(&self, _completes: bool) -> Result<()> {
        let settled = self.settle(None);
        fence(Ordering::SeqCst);
        // All take part, whatever failed here.
        executor::barrier(&self.comm)?;
        settled
    }

    fn start(&self, targets: &[u32]) -> Result<()> {
        for target in targets.iter().map(|target| *target as usize) {
            let seen = self.known.lock().posts[target];
            let posted = || self.own_word(Which::Posts(target)) > seen;
            wait::until_done(awaiting(posted, || self.subject(subject::POST, target)))?;
            self.known.lock().posts[target] += 1;
        }
        Ok(())
    }

    fn complete(&self, targets: &[u32]) -> Result<()> {
        for target in targets.iter().map(|target| *target as usize) {
            let settled = self.peers[target].settle();
            self.word(target, Which::Completes(self.me)).begin_add(1)?;
            settled?;
        }
        targets.iter().try_for_each(|target| self.peers[*target as usize].settle())
    }

    fn post(&self, origins: &[u32]) -> Result<()> {
        let tell = |origin: &u32| self.word(*origin as usize, Which::Posts(self.me)).begin_add(1);
        fence(Ordering::SeqCst);
        origins.iter().try_for_each(tell)
    }

    fn is_exposure_over(&self, origins: &[u32]) -> Result<bool> {
        let mut known = self.known.lock();
        let ended = |origin: usize| self.own_word(Which::Completes(origin));
        let over = origins.iter().all(|origin| ended(*origin as usize) > known.completes[*origin as usize]);
        if over {
            origins.iter().for_each(|origin| known.completes[*origin as usize] += 1);
        }
        Ok(over)
    }

    fn lock(&self, rank: usize, lock: Lock) -> Result<()> {
        let word = self.word(rank, Which::Lock);
        let mut backoff = Backoff::new();
        let mut pause = || backoff.step_for(|| self.subject(subject::LOCK, rank)).map_err(Fault::from);
        locks::lock(&word, lock, &mut pause)?;
        self.known.lock().held[rank] = Some(lock);
        Ok(())
    }

    fn unlock(&self, rank: usize) -> Result<()> {
        let held = self.known.lock().held[rank].take().ok_or(Class::RmaSync)?;
        let settled = self.peers[rank].settle();
        fence(Ordering::SeqCst);
        locks::unlock(&self.word(rank, Which::Lock), held)?;
        settled
    }

    fn flush(&self, rank: Option<usize>) -> Result<()> {
        fence(Ordering::SeqCst);
        if self.peers[self.ranks(rank)].iter().all(|peer| peer.flow.is_over()) {
            // Programs that look at their own memory in a loop flush to let others come in.
            self.sync();
        }
        self.settle(rank)
    }

    fn flush_local(&self, rank: Option<usize>) -> Result<()> {
        self.flush(rank)
    }

    fn sync(&self) {
        progress::flush();
        wait::polled_progress();
    }

    fn attach(&self, _base: *mut u8, _bytes: usize) -> Result<()> {
        Err(Class::RmaFlavor.into())
    }

    fn detach(&self, _base: *mut u8) -> Result<()> {
        Err(Class::RmaFlavor.into())
    }

    fn close(&self) -> Result<()> {
        // When all have nothing under way any more, nobody's memory is touched.
        let settled = self.settle(None);
        executor::barrier(&self.comm)?;
        settled
    }
}

impl Rdma {
    fn subject(&self, kind: u32, rank: usize) -> Subject {
        let process = self.comm.group.members().get(rank);
        subject::at_window(kind, process.filter(|_| kind != subject::LOCK).map(|process| (rank, process)), rank)
    }
}
