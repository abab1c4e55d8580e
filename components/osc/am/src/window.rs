//! One window: what this process knows of its peers, and what is under way.

use crate::memory::Memory;
use crate::raw::{self, Route, Transfer};
use crate::wire::{HEAD_TAG, Head, Kind};
use alloc::sync::Arc;
use alloc::vec::Vec;
use ompi_core::comm::Communicator;
use ompi_core::error::{Fault, Result};
use ompi_core::framework::osc::{Flavor, Plan};
use ompi_core::request::{self, Driver, Id, Request};
use ompi_core::status::Status;
use ompi_core::user_memory;
use opal_core::sync::{AtomicU32, ConditionalLock, Ordering};
use opal_core::{progress, wait};

/// A window.
pub struct Window {
    /// Its own communicator.
    pub comm: Arc<Communicator>,
    /// This process's memory.
    pub memory: Memory,
    owns_memory: bool,
    next_tag: AtomicU32,
    peers: ConditionalLock<Vec<Peer>>,
    // Accesses that are not complete here, and which of them to look at next.
    pending: ConditionalLock<(Vec<Pending>, usize)>,
}

/// What this process knows of one rank.
#[derive(Clone, Debug, Default)]
pub struct Peer {
    /// Something was sent that no flush was sent after.
    pub dirty: bool,
    /// Flushes and unlocks that were sent, and answered.
    pub flushes: u64,
    /// See there.
    pub acks: u64,
    /// Locks that were granted and not yet taken notice of; posts and completes likewise.
    pub grants: u64,
    /// See there.
    pub posts: u64,
    /// See there.
    pub completes: u64,
    /// Accesses to it that are not complete here.
    pub pending: u64,
    /// The code of what failed there since the last flush; 0 if nothing did.
    pub fault: i32,
}

struct Pending {
    rank: usize,
    transfers: Vec<Transfer>,
    request: Option<Id>,
}

impl Window {
    /// One of a plan; its memory is zeros if it is the window's own.
    pub fn new(plan: &Plan) -> Result<Window> {
        let owns_memory = matches!(plan.flavor, Flavor::Allocate | Flavor::Shared);
        let base = match owns_memory {
            true => user_memory::allocate(plan.own.bytes, plan.alignment)?,
            false => plan.base,
        };
        if owns_memory {
            raw::clear(base, plan.own.bytes);
        }
        let ranks = plan.comm.size();
        Ok(Window {
            comm: plan.comm.clone(),
            memory: Memory::new(plan.flavor, base, plan.own),
            owns_memory,
            next_tag: AtomicU32::new(0),
            peers: ConditionalLock::new(alloc::vec![Peer::default(); ranks]),
            pending: ConditionalLock::new((Vec::new(), 0)),
        })
    }

    /// The way to a rank.
    pub fn route(&self, rank: usize, tag: i32) -> Route<'_> {
        Route { comm: &self.comm, rank, tag }
    }

    /// Two tags, one for each direction, that no other access under way has.
    pub fn tags(&self) -> (i32, i32) {
        let number = self.next_tag.fetch_add(1, Ordering::Relaxed) & ((1 << 29) - 1);
        let result = 2 * number as i32 + 2;
        (result, result + 1)
    }

    /// Looks at or changes what is known of a rank.
    pub fn with_peer<R>(&self, rank: usize, look: impl FnOnce(&mut Peer) -> R) -> R {
        look(&mut self.peers.lock()[rank])
    }

    /// Waits for something to be known of a rank.
    pub fn wait_for(&self, rank: usize, mut known: impl FnMut(&mut Peer) -> bool) -> Result<()> {
        progress::flush();
        wait::until(|| self.with_peer(rank, &mut known)).map_err(Fault::from)
    }

    /// Sends a message that only synchronises.
    pub fn tell(&self, rank: usize, kind: Kind, count: u64) -> Result<()> {
        let mut message = Vec::new();
        Head::of(kind, count).encode(&mut message);
        let sent = Transfer::send(message, self.route(rank, HEAD_TAG))?;
        self.track(rank, Vec::from([sent]), false).map(drop)
    }

    /// Keeps the messages of an access until they have ended; a request for that, if one is wanted.
    pub fn track(&self, rank: usize, transfers: Vec<Transfer>, wanted: bool) -> Result<Option<Request>> {
        let mut left = Vec::new();
        for transfer in transfers {
            match transfer.is_complete() {
                true => drop(transfer.finish()?),
                false => left.push(transfer),
            }
        }
        if left.is_empty() {
            return Ok(wanted.then(request::done));
        }
        let request = match wanted {
            true => Some(request::create(request::Kind::Generic, &Accesses, 0)?),
            false => None,
        };
        self.with_peer(rank, |peer| peer.pending += 1);
        self.pending.lock().0.push(Pending { rank, transfers: left, request: request.as_ref().map(Request::id) });
        Ok(request)
    }

    /// Ends accesses whose messages have ended; how many. It looks at some of them, next time at others.
    pub fn sweep(&self) -> usize {
        let ended = self.ended();
        let count = ended.len();
        for mut access in ended {
            let ended =
                access.transfers.drain(..).map(|transfer| transfer.finish().map(drop)).fold(Ok(()), Result::and);
            let code = ended.map_or_else(|fault| fault.get(), |()| 0);
            self.with_peer(access.rank, |peer| {
                peer.pending -= 1;
                if code != 0 && access.request.is_none() {
                    peer.fault = code;
                }
            });
            if let Some(request) = access.request {
                request::complete(request, if code == 0 { Status::EMPTY } else { Status::failed(code) });
            }
        }
        count
    }

    /// Takes accesses out whose messages have ended.
    fn ended(&self) -> Vec<Pending> {
        let (mut ended, mut pending) = (Vec::new(), self.pending.lock());
        let (all, next) = &mut *pending;
        for _ in 0..SWEEP.min(all.len()) {
            if *next >= all.len() {
                *next = 0;
            }
            match all.get(*next).is_some_and(|access| access.transfers.iter().all(Transfer::is_complete)) {
                true => ended.push(all.swap_remove(*next)),
                false => *next += 1,
            }
        }
        ended
    }

    /// Whether all accesses of this process are complete here.
    pub fn is_settled(&self) -> bool {
        self.peers.lock().iter().all(|peer| peer.pending == 0)
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        if self.owns_memory {
            // It was allocated by `new`; there is nobody to tell.
            let _given_back = raw::free(self.memory.base());
        }
    }
}

/// Accesses that a pass of progress looks at: all of them would make many under way at once cost their square.
const SWEEP: usize = 64;

/// Requests of accesses have nothing to do but to wait.
struct Accesses;

impl Driver for Accesses {}
