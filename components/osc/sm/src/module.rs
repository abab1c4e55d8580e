//! The module of one window.
#![allow(unsafe_code)] // the unsafe method of the framework's trait

use crate::access;
use crate::locks;
use crate::raw::Buffer;
use crate::wait::{self, Peers};
use crate::words::Words;
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use ompi_core::comm::Communicator;
use ompi_core::data::Data;
use ompi_core::error::{Class, Result};
use ompi_core::executor;
use ompi_core::framework::op::Operation;
use ompi_core::framework::osc::{Access, Lock, Module, Part, Target};
use ompi_core::request::{self, Request};
use opal_core::sync::{ConditionalLock, Ordering, fence};

/// Serves one window.
pub struct Sm {
    comm: Arc<Communicator>,
    me: usize,
    parts: Box<[Part]>,
    words: Words,
    peers: Peers,
    known: ConditionalLock<Known>,
}

/// What this process remembers of each rank.
struct Known {
    /// The lock that it has of it.
    held: Vec<Option<Lock>>,
    /// How many of its posts, and of its completes, were taken notice of.
    posts: Vec<u64>,
    completes: Vec<u64>,
}

impl Sm {
    /// Over the memory that all processes have mapped.
    pub fn new(comm: Arc<Communicator>, parts: &[Part], words: Words, peers: Peers) -> Sm {
        let ranks = parts.len();
        let known = Known { held: vec![None; ranks], posts: vec![0; ranks], completes: vec![0; ranks] };
        Sm { me: comm.rank as usize, comm, parts: parts.into(), words, peers, known: ConditionalLock::new(known) }
    }
}

impl Module for Sm {
    fn base(&self) -> *mut u8 {
        self.words.part(self.me).0
    }

    fn shared(&self, rank: usize) -> Option<(*mut u8, usize)> {
        Some(self.words.part(rank))
    }

    unsafe fn access(&self, access: &Access<'_>, target: &Target<'_>, wanted: bool) -> Result<Option<Request>> {
        let Target { rank, displacement, data } = *target;
        // The caller has checked that it lies in the part.
        let at = self.words.part(rank).0.wrapping_offset((displacement * self.parts[rank].unit) as isize);
        // SAFETY: in the mapping, which lives as long as the window; the program synchronises accesses to it.
        let target = unsafe { Buffer::new(Data { at, ..data }) };
        // SAFETY: the caller's promise for each of them.
        let access = unsafe { told(access) };
        access::perform(&self.words, rank, &access, &target)?;
        Ok(wanted.then(request::done))
    }

    fn fence(&self, _completes: bool) -> Result<()> {
        fence(Ordering::SeqCst);
        executor::barrier(&self.comm)
    }

    fn start(&self, targets: &[u32]) -> Result<()> {
        for target in targets.iter().map(|target| *target as usize) {
            let seen = self.known.lock().posts[target];
            // Acquire pairs with the Release in `post`.
            wait::until(|| self.words.posts(target, self.me).load(Ordering::Acquire) > seen)?;
            self.known.lock().posts[target] += 1;
        }
        Ok(())
    }

    fn complete(&self, targets: &[u32]) -> Result<()> {
        for target in targets.iter().map(|target| *target as usize) {
            self.words.completes(self.me, target).fetch_add(1, Ordering::Release);
            self.peers.notify(target);
        }
        Ok(())
    }

    fn post(&self, origins: &[u32]) -> Result<()> {
        for origin in origins.iter().map(|origin| *origin as usize) {
            self.words.posts(self.me, origin).fetch_add(1, Ordering::Release);
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

    fn lock(&self, rank: usize, lock: Lock) -> Result<()> {
        locks::lock(&self.words, rank, lock, &self.peers)?;
        self.known.lock().held[rank] = Some(lock);
        Ok(())
    }

    fn unlock(&self, rank: usize) -> Result<()> {
        let held = self.known.lock().held[rank].take().ok_or(Class::RmaSync)?;
        locks::unlock(&self.words, rank, held, &self.peers);
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

    fn attach(&self, _base: *mut u8, _bytes: usize) -> Result<()> {
        Err(Class::RmaFlavor.into())
    }

    fn detach(&self, _base: *mut u8) -> Result<()> {
        Err(Class::RmaFlavor.into())
    }

    fn close(&self) -> Result<()> {
        Ok(())
    }
}

/// The access with buffers that may be used.
///
/// # Safety
/// That of [`Module::access`].
unsafe fn told<'a>(access: &Access<'a>) -> access::Access<'a> {
    // SAFETY: the caller's promise.
    let buffer = |data: &Data<'a>| unsafe { Buffer::new(*data) };
    match access {
        Access::Put(origin) => access::Access::Put(buffer(origin)),
        Access::Get(result) => access::Access::Get(buffer(result)),
        Access::Accumulate(origin, operation) => access::Access::Accumulate(Some(buffer(origin)), None, *operation),
        Access::GetAccumulate(_, result, Operation::NoOp) => {
            access::Access::Accumulate(None, Some(buffer(result)), Operation::NoOp)
        }
        Access::GetAccumulate(origin, result, operation) => {
            access::Access::Accumulate(Some(buffer(origin)), Some(buffer(result)), *operation)
        }
        Access::CompareAndSwap { origin, compare, result } => {
            access::Access::CompareAndSwap(buffer(origin), buffer(compare), buffer(result))
        }
    }
}
