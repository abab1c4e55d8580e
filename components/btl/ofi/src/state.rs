//! Peers by rank, and what is under way. All of it has one lock; handlers of messages run without it.

use crate::abi::FiAddr;
use crate::peer::{Early, Peer, Turn};
use crate::raw::{Fabric, Posted, Region};
use crate::wire::{self, CREDITS, HEADER_BYTES, Header, LABEL};
use alloc::boxed::Box;
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
    /// The endpoint.
    pub fabric: Fabric,
    /// This process's job.
    pub job: Job,
    /// By rank; those that were added.
    pub peers: Table<Peer>,
    /// Buffers that wait for a message to send.
    free: Vec<u32>,
    /// By buffer: with what it is under way.
    sending: Box<[Sending]>,
    /// How many messages each peer may have on their way to this process.
    pub window: u16,
    /// Ranks to which credits must be returned, and for which there was no room.
    owed: Vec<u32>,
    /// Ranks with a message for which the provider had no room.
    waiting: Vec<u32>,
    /// Buffers that should receive, and for which the provider had no room.
    unposted: Vec<u32>,
    /// Memory of peers, and operations on it.
    pub memory: Memory<Region, wire::Key, Noted>,
    /// How many keys of memory were made.
    pub keys_made: u64,
    /// Messages whose completion has not come.
    under_way: u32,
    /// Peers, by their number for the layer above, of which it has not been told that they are lost.
    pub lost: Vec<u32>,
    /// Those of which the fabric need not say that they are lost.
    pub ended: Ended,
    /// While anything is due of which no descriptor tells, sleeps are short.
    due: Timed,
    /// The endpoint is of no use any more.
    is_broken: bool,
    /// Messages that no process of the job has sent.
    pub dropped: u64,
}

/// What is noted of an operation on memory.
#[derive(Clone, Copy)]
pub struct Noted {
    /// Whose memory it is.
    pub rank: u32,
    /// It finds something there.
    pub finds: bool,
}

/// What a buffer is under way with.
#[derive(Clone, Copy)]
struct Sending {
    rank: u32,
    /// It only returns credits.
    is_return: bool,
}

impl State {
    /// Over an endpoint whose buffers are all free.
    pub fn new(fabric: Fabric, job: Job, window: u16) -> State {
        let (sends, receives) = fabric.counts();
        let memory = Memory::new(fabric.reach().operations);
        State {
            fabric,
            job,
            peers: Table::new(),
            free: (0..sends).rev().collect(),
            sending: alloc::vec![Sending { rank: 0, is_return: false }; sends as usize].into_boxed_slice(),
            window,
            owed: Vec::new(),
            waiting: Vec::new(),
            unposted: (0..receives).rev().collect(),
            memory,
            keys_made: 0,
            under_way: 0,
            lost: Vec::new(),
            ended: Ended::new(),
            due: Timed::new(),
            is_broken: false,
            dropped: 0,
        }
    }

    /// Adds a peer of the job that allows so many messages on their way to it.
    pub fn add(&mut self, rank: u32, index: u32, address: FiAddr, window: u16) {
        let tokens = head::tokens(LABEL, &self.job, rank);
        *self.peers.place(rank as usize) = Some(Peer::new(index, address, tokens, window));
    }

    /// A buffer for a message to a peer, and what stands before the payload; `None`: there is no room.
    pub fn begin(&mut self, rank: u32, am: u8, immediate: u64) -> Option<(u32, Header)> {
        let free = self.free.len().saturating_sub(self.reserve());
        let peer = self.peers.get_mut(rank as usize).filter(|peer| peer.may_send(free))?;
        let slot = self.free.pop()?;
        let (number, returned) = peer.number();
        let head = Head { from: self.job.index, token: peer.token_there, immediate };
        Some((slot, Header { head, number, am, returned }))
    }

    /// Sends a buffer, or lets it wait. After `begin`, or when it had waited.
    pub fn send(&mut self, rank: u32, slot: u32, bytes: usize) {
        let Some(peer) = self.peers.get_mut(rank as usize) else { return };
        match self.fabric.send(slot, bytes, peer.address) {
            Posted::Begun => {
                peer.under_way += 1;
                self.begun(slot, Sending { rank, is_return: false });
            }
            Posted::Full => {
                peer.waiting = Some((slot, bytes));
                self.waiting.push(rank);
            }
            Posted::Refused(error) => {
                let why = self.fabric.words(error);
                self.free.push(slot);
                self.lose(rank, "cannot be sent to", &why);
            }
        }
    }

    /// A message of a peer was handed out, and its buffer may receive again. It is returned to the sender, now or with others.
    pub fn handed_out(&mut self, rank: u32, slot: u32) {
        self.receive(slot);
        let window = self.window;
        if self.peers.get_mut(rank as usize).is_some_and(|peer| peer.owe(window)) {
            self.return_credits(rank);
        }
    }

    /// Returns what is owed to a peer in a message of its own, or lets that wait.
    fn return_credits(&mut self, rank: u32) {
        let own = self.job.index;
        let Some(peer) = self.peers.get_mut(rank as usize).filter(|peer| peer.owes(self.window)) else { return };
        let Some(slot) = self.free.pop() else { return self.owed.push(rank) };
        let (token, returned) = (peer.token_there, peer.owed());
        let head = Head { from: own, token, immediate: 0 };
        let header = Header { head, number: 0, am: CREDITS, returned };
        self.fabric.fill(slot, &header.encode(), 0, &mut |_| {});
        match self.fabric.send(slot, HEADER_BYTES, peer.address) {
            Posted::Begun => {
                peer.returned();
                self.begun(slot, Sending { rank, is_return: true });
            }
            Posted::Full => {
                self.free.push(slot);
                self.owed.push(rank);
            }
            // Perhaps it has left after its last message. If not, the next message to it says more.
            Posted::Refused(_) => {
                peer.returned();
                self.free.push(slot);
            }
        }
    }

    fn begun(&mut self, slot: u32, sending: Sending) {
        self.sending[slot as usize] = sending;
        self.under_way += 1;
    }

    /// Buffers that messages leave to those which return credits.
    fn reserve(&self) -> usize {
        (self.sending.len() / 8).clamp(1, RESERVE_MAX)
    }

    /// A message has left, or never will; its receiver, unless it only returned credits.
    pub fn sent(&mut self, slot: u32) -> Option<u32> {
        self.under_way -= 1;
        self.free.push(slot);
        let Sending { rank, is_return } = self.sending[slot as usize];
        if is_return {
            return None;
        }
        if let Some(peer) = self.peers.get_mut(rank as usize) {
            peer.under_way -= 1;
        }
        Some(rank)
    }

    /// Lets a message come into a buffer, at once or when the provider has room.
    pub fn receive(&mut self, slot: u32) {
        match self.fabric.receive(slot) {
            Posted::Begun => {}
            Posted::Full => self.unposted.push(slot),
            Posted::Refused(error) => self.break_down("receives nothing any more", error),
        }
    }

    /// Tries again what the provider had no room for.
    pub fn try_again(&mut self) {
        if self.is_broken {
            return;
        }
        for _ in 0..self.unposted.len() {
            let Some(slot) = self.unposted.pop() else { break };
            let before = self.unposted.len();
            self.receive(slot);
            if self.unposted.len() > before {
                break;
            }
        }
        for rank in core::mem::take(&mut self.waiting) {
            let waited = self.peers.get_mut(rank as usize).and_then(|peer| peer.waiting.take());
            if let Some((slot, bytes)) = waited {
                self.send(rank, slot, bytes);
            }
        }
        for rank in core::mem::take(&mut self.owed) {
            self.return_credits(rank);
        }
        self.lose_ended();
        self.due.set(!self.is_drained() || !self.unposted.is_empty() || !self.owed.is_empty());
    }

    /// Closes those that have ended and of which all has come.
    fn lose_ended(&mut self) {
        if self.ended.is_empty() {
            return;
        }
        for rank in self.ended.take_silent(sys::monotonic_ns()) {
            self.lose(rank, "is not there any more", "whoever launched it says so");
        }
    }

    /// Whether everything has left.
    pub fn is_drained(&self) -> bool {
        self.is_broken || (self.under_way == 0 && self.waiting.is_empty() && self.memory.is_idle())
    }

    /// Places a message of a peer among its others. One that is early is kept.
    pub fn take_turn(&mut self, early: Early) -> Turn {
        match self.peers.get_mut(early.header.head.from as usize) {
            Some(peer) => peer.take_turn(early, self.window),
            None => Turn::Never,
        }
    }

    /// The message that came before its turn and is next now.
    pub fn next_early(&mut self, rank: u32) -> Option<Early> {
        self.peers.get_mut(rank as usize)?.next_early()
    }

    /// Closes a peer, and says why: the fabric lost it, or what it sends is wrong.
    #[cold]
    pub fn lose(&mut self, rank: u32, what: &str, why: &str) {
        let Some(peer) = self.peers.get(rank as usize).filter(|peer| !peer.closed) else { return };
        let index = peer.index;
        let is_own = rank == self.job.index;
        message!("btl/ofi: rank {rank} {what}: {why}; it counts as lost");
        // Its own memory by the fabric: nothing else needs that.
        if !is_own {
            self.lost.push(index);
        }
        self.close(rank);
    }

    /// Closes a peer: nothing is sent to it or taken from it.
    pub fn close(&mut self, rank: u32) {
        let Some(peer) = self.peers.get_mut(rank as usize) else { return };
        peer.closed = true;
        self.free.extend(peer.waiting.take().map(|(slot, _)| slot));
        let early = core::mem::take(&mut peer.early);
        self.waiting.retain(|waiting| *waiting != rank);
        self.owed.retain(|owed| *owed != rank);
        early.into_iter().for_each(|early| self.receive(early.slot));
    }

    /// Ends everything: the endpoint itself is of no use any more.
    #[cold]
    pub fn break_down(&mut self, what: &str, error: i32) {
        if core::mem::replace(&mut self.is_broken, true) {
            return;
        }
        let why = self.fabric.words(error);
        message!("btl/ofi: this process {what}: {why}; all peers beyond this node count as lost");
        let open: Vec<u32> = self.peers.iter().filter(|(_, peer)| !peer.closed).map(|(rank, _)| rank as u32).collect();
        for rank in open {
            let Some(peer) = self.peers.get_mut(rank as usize) else { continue };
            peer.closed = true;
            if rank != self.job.index {
                self.lost.push(peer.index);
            }
        }
        self.waiting.clear();
        self.owed.clear();
        self.memory.end_all();
    }
}

const RESERVE_MAX: usize = 8;
