//! One window: what this process knows of its peers, and what it has asked them for.

use crate::memory::Memory;
use crate::outbox::Outbox;
use crate::pending::{AllPending, Messages, Pending};
use crate::raw::{self, Placement, Route};
use crate::wire::{Failure, ReadId, Record};
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;
use ompi_core::comm::Communicator;
use ompi_core::error::{Class, Fault, Result};
use ompi_core::framework::osc::{Flavor, Part, Plan};
use ompi_core::framework::pml::subject;
use ompi_core::request::{self, Driver, Id, Request};
use ompi_core::status::Status;
use ompi_core::user_memory;
use opal_core::sync::{AtomicU32, ConditionalLock, Ordering};
use opal_core::wait::{self, awaiting};

/// A window.
pub struct Window {
    /// Its own communicator.
    pub comm: Arc<Communicator>,
    /// This process's memory.
    pub memory: Memory,
    /// All processes' memory.
    pub parts: Box<[Part]>,
    owns_memory: bool,
    next_tag: AtomicU32,
    peers: ConditionalLock<Vec<Peer>>,
    reads: ConditionalLock<Reads>,
    pending: ConditionalLock<AllPending>,
}

/// What this process knows of one rank.
#[derive(Debug)]
pub struct Peer {
    /// What was not sent yet.
    pub outbox: Outbox,
    /// Something was asked for that no flush was sent after.
    pub dirty: bool,
    /// Flushes and unlocks that were asked for, and answered.
    pub flushes: u64,
    /// See there.
    pub acks: u64,
    /// Bytes that accesses since the last flush was asked for have sent or want to read.
    pub unflushed_bytes: usize,
    /// Posts and completes that came and were not yet taken notice of.
    pub posts: u64,
    /// See there.
    pub completes: u64,
    /// Accesses to it that are not complete here.
    pub pending: u64,
    /// What failed since the last flush.
    pub failure: Option<Failure>,
    /// Whether it copies from this process's memory.
    pub lending: Lending,
    /// Where its memory lies, if this process copies from and to it.
    pub base: Option<u64>,
    /// The lock that was asked for last is granted when so many flushes are answered.
    pub granted_at: u64,
}

/// What is known of whether a peer copies from memory of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lending {
    /// It was not asked.
    Unknown,
    /// It was asked, and has not said so.
    Offered,
    /// It does.
    Possible,
}

/// Accesses whose answers come in packets, by number.
#[derive(Default)]
struct Reads {
    all: Vec<Option<Read>>,
    free: Vec<u32>,
}

struct Read {
    rank: usize,
    placement: Placement,
    request: Option<Id>,
}

impl Window {
    /// One of a plan; its memory is zeros if it is the window's own.
    pub fn new(plan: &Plan, parts: &[Part]) -> Result<Window> {
        let owns_memory = matches!(plan.flavor, Flavor::Allocate | Flavor::Shared);
        let base = match owns_memory {
            // No process sees what another use of it left.
            true => user_memory::allocate_zeros(plan.own.bytes, plan.alignment)?,
            false => plan.base,
        };
        let comm = plan.comm.clone();
        let peers = (0..comm.size()).map(|rank| Peer::new(Outbox::to(&comm, rank))).collect();
        Ok(Window {
            comm,
            memory: Memory::new(plan.flavor, base, plan.own),
            parts: parts.into(),
            owns_memory,
            next_tag: AtomicU32::new(0),
            peers: ConditionalLock::new(peers),
            reads: ConditionalLock::new(Reads::default()),
            pending: ConditionalLock::new(AllPending::default()),
        })
    }

    /// This process's rank.
    pub fn me(&self) -> usize {
        self.comm.rank as usize
    }

    /// One rank, or all.
    pub fn ranks(&self, rank: Option<usize>) -> Range<usize> {
        rank.map_or(0..self.comm.size(), |rank| rank..rank + 1)
    }

    /// The way to a rank.
    pub fn route(&self, rank: usize, tag: i32) -> Route<'_> {
        Route { comm: &self.comm, rank, tag }
    }

    /// A number for the tags of an access with messages of its own, which no other such access under way has.
    pub fn next_tag_number(&self) -> u32 {
        self.next_tag.fetch_add(1, Ordering::Relaxed) & ((1 << 28) - 1)
    }

    /// Looks at or changes what is known of a rank. May send a packet, but makes no progress.
    #[inline(always)]
    pub fn with_peer<R>(&self, rank: usize, look: impl FnOnce(&mut Peer) -> R) -> R {
        look(&mut self.peers.lock()[rank])
    }

    /// Waits for something to be known of a rank.
    pub fn wait_for(&self, rank: usize, mut known: impl FnMut(&mut Peer) -> bool) -> Result<()> {
        opal_core::progress::flush();
        let process = self.comm.group.members().get(rank);
        let subject = || subject::at_window(subject::WINDOW, process.map(|process| (rank, process)), rank);
        wait::until_done(awaiting(|| self.with_peer(rank, &mut known), subject)).map_err(Fault::from)
    }

    /// Sends what waits for it, to a rank or to all.
    pub fn send_outboxes(&self, rank: Option<usize>) -> Result<usize> {
        let mut peers = self.peers.lock();
        let mut sent = 0;
        for rank in self.ranks(rank) {
            sent += usize::from(peers[rank].outbox.send()?);
        }
        Ok(sent)
    }

    /// Sends what waits for it to a rank, where a flush was asked for that the program does not know of: the program's own must still
    /// see what failed.
    pub fn send_marked(&self, rank: usize) -> Result<()> {
        self.with_peer(rank, |peer| {
            peer.dirty = true;
            peer.outbox.send().map(drop)
        })
    }

    fn requested(&self, wanted: bool) -> Result<Option<Request>> {
        match wanted {
            true => request::create(request::Kind::OneSided, &Accesses, u64::from(self.comm.context)).map(Some),
            false => Ok(None),
        }
    }

    /// Keeps the place where an answer goes: its number, and a request if one is wanted.
    #[inline]
    pub fn expect(&self, rank: usize, placement: Placement, wanted: bool) -> Result<(u32, Option<Request>)> {
        let request = self.requested(wanted)?;
        let read = Some(Read { rank, placement, request: request.as_ref().map(Request::id) });
        let mut reads = self.reads.lock();
        let number = match reads.free.pop() {
            Some(number) => {
                reads.all[number as usize] = read;
                number
            }
            None => {
                reads.all.push(read);
                reads.all.len() as u32 - 1
            }
        };
        drop(reads);
        self.with_peer(rank, |peer| peer.pending += 1);
        Ok((number, request))
    }

    /// What was expected will not come: it was never asked for.
    pub fn forget(&self, rank: usize, number: u32) {
        let _ended = self.end_read(rank, number, |_| true, None);
    }

    /// The next bytes of an answer. `false` if nobody asked this rank for them.
    fn answered(&self, rank: usize, number: u32, data: &[u8]) -> bool {
        self.end_read(rank, number, |placement| placement.fill(data) == 0, None)
    }

    /// Looks for what was asked of a rank, and ends it if `is_over`. `false` if nothing was.
    #[inline]
    fn end_read(
        &self,
        rank: usize,
        number: u32,
        is_over: impl FnOnce(&mut Placement) -> bool,
        failure: Option<Failure>,
    ) -> bool {
        let mut reads = self.reads.lock();
        let Some(place) = reads.all.get_mut(number as usize) else { return false };
        let Some(read) = place.as_mut().filter(|read| read.rank == rank) else { return false };
        if !is_over(&mut read.placement) {
            return true;
        }
        let request = place.take().and_then(|read| read.request);
        reads.free.push(number);
        drop(reads);
        self.end_access(rank, request, failure);
        true
    }

    /// An access to a rank is complete here. Its request tells what failed, without one the next synchronisation.
    fn end_access(&self, rank: usize, request: Option<Id>, failure: Option<Failure>) {
        self.with_peer(rank, |peer| {
            peer.pending -= 1;
            if request.is_none() {
                peer.failure = peer.failure.or(failure);
            }
        });
        let Some(request) = request else { return };
        let mut status = Status::EMPTY;
        if let Some(failure) = failure {
            status.fail(failure.class, self.comm.context);
        }
        request::complete(request, status);
    }

    /// A target could not do what it was asked to read. `false` if nobody asked this rank for it.
    #[cold]
    fn refused(&self, rank: usize, read: ReadId, failure: Failure) -> bool {
        if read.apart {
            self.pending.lock().refused.push((rank, read.number, failure));
            return true;
        }
        self.end_read(rank, read.number, |_| true, Some(failure))
    }

    /// Takes notice of what a target says. `false` if it makes no sense.
    pub fn handle(&self, rank: usize, record: &Record<'_>) -> bool {
        match record {
            Record::Answer(number, data) => return self.answered(rank, *number, data),
            Record::Refused(read, failure) => return self.refused(rank, *read, *failure),
            Record::Post => self.with_peer(rank, |peer| peer.posts += 1),
            Record::Ack(failure) => self.with_peer(rank, |peer| {
                peer.acks += 1;
                peer.failure = peer.failure.or(*failure);
            }),
            Record::Reads(base) => {
                self.with_peer(rank, |peer| peer.lending = Lending::Possible);
                self.note_base(rank, *base);
            }
            Record::Access(..) | Record::Sync(_) | Record::Offer(_) => return false,
        }
        true
    }

    /// A target said where its memory lies.
    fn note_base(&self, rank: usize, base: u64) {
        let bytes = self.parts[rank].bytes;
        if base != 0 && bytes > 0 && raw::can_copy(self.route(rank, 0), base, bytes) {
            self.with_peer(rank, |peer| peer.base = Some(base));
        }
    }

    /// Keeps the messages of an access until they have ended; a request for that, if one is wanted.
    pub fn track(&self, rank: usize, mut messages: Messages, wanted: bool) -> Result<Option<Request>> {
        if messages.drop_ended()? {
            return Ok(wanted.then(request::done));
        }
        let request = self.requested(wanted)?;
        self.with_peer(rank, |peer| peer.pending += 1);
        self.pending.lock().all.push(Pending { rank, messages, request: request.as_ref().map(Request::id) });
        Ok(request)
    }

    /// Ends accesses whose messages have ended; how many. It looks at some of them, next time at others.
    pub fn sweep(&self) -> usize {
        let ended = self.pending.lock().take_ended();
        let count = ended.len();
        for (Pending { rank, messages, request }, refusal) in ended {
            let failed = |fault: Fault| Failure { class: fault.get(), displacement: 0 };
            let failure = messages.finish(refusal.is_some()).err().map(failed);
            self.end_access(rank, request, refusal.or(failure));
        }
        count
    }

    /// Whether nothing of this process waits to be sent, nor for messages of its own.
    pub fn is_quiet(&self) -> bool {
        self.pending.lock().all.is_empty() && self.peers.lock().iter().all(|peer| peer.outbox.is_empty())
    }

    /// Whether all accesses of this process are complete here.
    pub fn is_settled(&self) -> bool {
        self.peers.lock().iter().all(|peer| peer.pending == 0)
    }
}

impl Peer {
    /// An access of so many bytes was asked for.
    pub fn note_access(&mut self, bytes: usize) {
        self.dirty = true;
        self.unflushed_bytes += bytes;
    }

    /// Whether this process knows that it has the lock that it asked for last, if it asked for one.
    pub fn is_granted(&self) -> bool {
        self.acks >= self.granted_at
    }

    fn new(outbox: Outbox) -> Peer {
        Peer {
            outbox,
            dirty: false,
            flushes: 0,
            acks: 0,
            unflushed_bytes: 0,
            posts: 0,
            completes: 0,
            pending: 0,
            failure: None,
            lending: Lending::Unknown,
            base: None,
            granted_at: 0,
        }
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

/// What a synchronisation says of an access that the target could not do.
#[cold]
pub fn failed(rank: usize, failure: Failure) -> Fault {
    let Failure { class, displacement } = failure;
    let what = if class == Class::RmaRange as i32 { "; its data is not all in the target's memory" } else { "" };
    let why = alloc::format!("rank {rank} could not do an access at displacement {displacement:#x}{what}");
    Fault::code(class).because(why)
}

/// Requests of accesses have nothing to do but to wait. Token: the number of the window's communicator.
struct Accesses;

impl Driver for Accesses {
    fn context(&self, token: u64) -> Option<u32> {
        Some(token as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_names_rank_and_displacement() {
        let fault = failed(3, Failure { class: Class::RmaRange as i32, displacement: 0x1234 });
        assert_eq!(fault.get(), Class::RmaRange as i32);
        assert!(fault.reason().contains("rank 3") && fault.reason().contains("0x1234"), "{}", fault.reason());
    }
}
