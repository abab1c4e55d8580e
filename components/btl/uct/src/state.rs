//! Peers by rank, and what is under way. All of it has one lock; handlers of messages run without it.

use crate::abi::Status;
use crate::peer::Peer;
use crate::raw::{Batch, Ep, Interface, Posted, Region, RemoteKey};
use crate::wire::{HEADER_BYTES, LABEL, LEAVES, WIRE_ID};
use alloc::vec::Vec;
use opal_core::framework::btl::Job;
use opal_core::sparse::Table;
use opal_core::wait::Timed;
use opal_core::{message, sys};
use opal_fabric::ended::Ended;
use opal_fabric::head::{self, Head};
use opal_fabric::memory::Memory;

/// What changes.
pub struct State {
    /// The interface.
    pub interface: Interface,
    /// This process's job.
    pub job: Job,
    /// By rank; those that were added.
    pub peers: Table<Peer>,
    /// Memory of peers, and operations on it.
    pub memory: Memory<Region, RemoteKey, ()>,
    /// Peers, by their number for the layer above, of which it has not been told that they are lost.
    pub lost: Vec<u32>,
    /// Those of which UCT need not say that they are lost.
    pub ended: Ended,
    /// What the next batch is written to.
    pub empty: Batch,
    /// While anything is due of which no descriptor tells, sleeps are short.
    due: Timed,
    /// When connections were last accepted.
    accepted_ns: u64,
    /// Messages that no process of the job has sent.
    pub dropped: u64,
}

impl State {
    /// Over an interface without peers.
    pub fn new(interface: Interface, job: Job) -> State {
        let memory = Memory::new(interface.operations());
        State {
            interface,
            job,
            peers: Table::new(),
            memory,
            lost: Vec::new(),
            ended: Ended::new(),
            empty: Batch::default(),
            due: Timed::new(),
            accepted_ns: 0,
            dropped: 0,
        }
    }

    /// Adds a peer of the job.
    pub fn add(&mut self, rank: u32, index: u32, ep: Ep, memory: Option<Ep>) {
        let [token_there, token_here] = head::tokens(LABEL, &self.job, rank);
        let peer = Peer { index, ep, memory, token_there, token_here, closed: false };
        *self.peers.place(rank as usize) = Some(peer);
    }

    /// Makes progress, and takes what has come.
    pub fn progress(&mut self) -> Batch {
        let now_ns = sys::monotonic_ns();
        if now_ns.wrapping_sub(self.accepted_ns) >= ACCEPT_NS {
            self.accepted_ns = now_ns;
            self.interface.accept();
        }
        self.interface.progress();
        let empty = core::mem::take(&mut self.empty);
        self.interface.take(empty)
    }

    /// Where messages to a peer go, and what stands before the payload; `None`: it is closed.
    pub fn begin(&self, rank: u32, immediate: u64) -> Option<(Ep, [u8; HEADER_BYTES])> {
        let peer = self.peers.get(rank as usize).filter(|peer| !peer.closed)?;
        Some((peer.ep, Head { from: self.job.index, token: peer.token_there, immediate }.encode(WIRE_ID)))
    }

    /// What became of a message. Whether it is sent.
    pub fn sent(&mut self, rank: u32, posted: Posted) -> bool {
        if let Posted::Refused(status) = posted {
            let why = self.interface.words(status);
            self.lose(rank, "cannot be sent to", &why);
        }
        matches!(posted, Posted::Done | Posted::Begun)
    }

    /// Tells peers that this process leaves: those to which there is room.
    pub fn leave(&mut self) {
        let open: Vec<u32> = self.peers.iter().filter(|(_, peer)| !peer.closed).map(|(rank, _)| rank as u32).collect();
        for rank in open {
            let Some((ep, head)) = self.begin(rank, 0) else { continue };
            // One that has left already says so by an error, which is none now.
            self.interface.send_empty(ep, LEAVES, &head);
        }
    }

    /// A peer leaves MPI: nothing more comes from it, and its end is none that matters.
    pub fn leaves(&mut self, rank: u32) {
        if let Some(peer) = self.peers.get_mut(rank as usize) {
            peer.closed = true;
        }
    }

    /// UCT has lost whatever this endpoint reached.
    #[cold]
    pub fn failed(&mut self, ep: *const crate::abi::EpObject, status: Status) {
        let is_it = |peer: &Peer| peer.ep.is(ep);
        let found = self.peers.iter().find(|(_, peer)| is_it(peer)).map(|(rank, _)| rank as u32);
        if let Some(rank) = found {
            let why = self.interface.words(status);
            self.lose(rank, "is not there any more", &why);
        }
    }

    /// Closes a peer, and says why: UCT lost it, or what it sends is wrong.
    #[cold]
    pub fn lose(&mut self, rank: u32, what: &str, why: &str) {
        let Some(peer) = self.peers.get_mut(rank as usize).filter(|peer| !peer.closed) else { return };
        peer.closed = true;
        message!("btl/uct: rank {rank} {what}: {why}; it counts as lost");
        self.lost.push(peer.index);
    }

    /// After each pass: closes those that have ended and of which all has come, and notes whether a descriptor tells of everything that is still due.
    pub fn note_due(&mut self) {
        if !self.ended.is_empty() {
            for rank in self.ended.take_silent(sys::monotonic_ns()) {
                self.lose(rank, "is not there any more", "whoever launched it says so");
            }
        }
        let is_due = !self.memory.is_idle();
        self.due.set(is_due);
    }

    /// Whether everything has left.
    pub fn is_drained(&self) -> bool {
        self.memory.is_idle() && self.interface.is_flushed()
    }
}

/// UCX's own thread would do it at once; a system call in each pass would cost more than a message.
const ACCEPT_NS: u64 = 200_000;
