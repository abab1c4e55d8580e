//! Peers by rank, and what is under way. All of it has one lock; handlers of messages run without it.

use crate::abi::FiAddr;
use crate::raw::{Fabric, Posted};
use crate::wire::{self, Header};
use alloc::boxed::Box;
use alloc::vec::Vec;
use opal_core::framework::btl::Job;
use opal_core::message;
use opal_core::sparse::Table;
use opal_core::wait::Timed;

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
    /// By buffer: to whom it is under way.
    receivers: Box<[u32]>,
    /// Ranks with a message for which the provider had no room.
    waiting: Vec<u32>,
    /// Buffers that should receive, and for which the provider had no room.
    unposted: Vec<u32>,
    /// Messages whose completion has not come.
    under_way: u32,
    /// Peers, by their number for the layer above, of which it has not been told that they are lost.
    pub lost: Vec<u32>,
    /// While anything is due of which no descriptor tells, sleeps are short.
    due: Timed,
    /// The endpoint is of no use any more.
    is_broken: bool,
    /// Messages that no process of the job has sent.
    pub dropped: u64,
}

/// A peer that was added.
pub struct Peer {
    /// Its number for the layer above.
    pub index: u32,
    /// Where it stands in the address vector.
    address: FiAddr,
    /// The token of messages to it.
    token_there: u64,
    /// The token of its messages.
    pub token_here: u64,
    /// Number of the next message to it.
    next: u32,
    /// Number of its next message.
    wanted: u32,
    /// What came before its turn.
    early: Vec<Early>,
    /// A buffer, with so many bytes, for which the provider had no room.
    waiting: Option<(u32, usize)>,
    /// It was removed, or broke the format, or counts as lost.
    pub closed: bool,
}

/// A message that waits for those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Early {
    /// What stands before it.
    pub header: Header,
    /// The buffer that it lies in.
    pub slot: u32,
    /// Its length with the header.
    pub bytes: usize,
}

/// What a message is to those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// It is next.
    Next,
    /// It waits, in its buffer.
    Early,
    /// No sender numbers messages so.
    Never,
}

impl State {
    /// Over an endpoint whose buffers are all free.
    pub fn new(fabric: Fabric, job: Job) -> State {
        let (sends, receives) = fabric.counts();
        State {
            fabric,
            job,
            peers: Table::new(),
            free: (0..sends).rev().collect(),
            receivers: alloc::vec![0; sends as usize].into_boxed_slice(),
            waiting: Vec::new(),
            unposted: (0..receives).rev().collect(),
            under_way: 0,
            lost: Vec::new(),
            due: Timed::new(),
            is_broken: false,
            dropped: 0,
        }
    }

    /// Adds a peer of the job.
    pub fn add(&mut self, rank: u32, index: u32, address: FiAddr) {
        let own = self.job.index;
        *self.peers.place(rank as usize) = Some(Peer {
            index,
            address,
            token_there: wire::token(&self.job, own, rank),
            token_here: wire::token(&self.job, rank, own),
            next: 0,
            wanted: 0,
            early: Vec::new(),
            waiting: None,
            closed: false,
        });
    }

    /// A buffer for a message to a peer, and what stands before the payload; `None`: there is no room.
    pub fn begin(&mut self, rank: u32, am: u8, immediate: u64) -> Option<(u32, Header)> {
        let peer = self.peers.get_mut(rank as usize).filter(|peer| !peer.closed && peer.waiting.is_none())?;
        let slot = self.free.pop()?;
        let header = Header { from: self.job.index, token: peer.token_there, immediate, number: peer.next, am };
        peer.next = peer.next.wrapping_add(1);
        Some((slot, header))
    }

    /// Sends a buffer, or lets it wait. After `begin`, or when it had waited.
    pub fn send(&mut self, rank: u32, slot: u32, bytes: usize) {
        let Some(peer) = self.peers.get_mut(rank as usize) else { return };
        match self.fabric.send(slot, bytes, peer.address) {
            Posted::Begun => {
                self.receivers[slot as usize] = rank;
                self.under_way += 1;
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

    /// A message has left; its receiver.
    pub fn sent(&mut self, slot: u32) -> u32 {
        self.under_way -= 1;
        self.free.push(slot);
        self.receivers[slot as usize]
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
        self.due.set(!self.is_drained() || !self.unposted.is_empty());
    }

    /// Whether everything has left.
    pub fn is_drained(&self) -> bool {
        self.is_broken || (self.under_way == 0 && self.waiting.is_empty())
    }

    /// Places a message of a peer among its others. One that is early is kept.
    pub fn take_turn(&mut self, early: Early) -> Turn {
        let most = self.fabric.counts().1;
        match self.peers.get_mut(early.header.from as usize) {
            Some(peer) => peer.take_turn(early, most),
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
        message!("btl/ofi: rank {rank} {what}: {why}; it counts as lost");
        self.lost.push(index);
        self.close(rank);
    }

    /// Closes a peer: nothing is sent to it or taken from it.
    pub fn close(&mut self, rank: u32) {
        let Some(peer) = self.peers.get_mut(rank as usize) else { return };
        peer.closed = true;
        self.free.extend(peer.waiting.take().map(|(slot, _)| slot));
        let early = core::mem::take(&mut peer.early);
        self.waiting.retain(|waiting| *waiting != rank);
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
            self.lost.push(peer.index);
        }
        self.waiting.clear();
    }
}

impl Peer {
    fn take_turn(&mut self, early: Early, most: u32) -> Turn {
        match early.header.number.wrapping_sub(self.wanted) {
            0 => {
                self.wanted = self.wanted.wrapping_add(1);
                Turn::Next
            }
            // More cannot have come, since each lies in a buffer.
            ahead if ahead < most && !self.early.iter().any(|one| one.header.number == early.header.number) => {
                self.early.push(early);
                Turn::Early
            }
            _ => Turn::Never,
        }
    }

    fn next_early(&mut self) -> Option<Early> {
        let at = self.early.iter().position(|early| early.header.number == self.wanted)?;
        self.wanted = self.wanted.wrapping_add(1);
        Some(self.early.swap_remove(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: u32 = 4;

    fn peer(wanted: u32) -> Peer {
        Peer {
            index: 0,
            address: 0,
            token_there: 0,
            token_here: 0,
            next: 0,
            wanted,
            early: Vec::new(),
            waiting: None,
            closed: false,
        }
    }

    fn message(number: u32) -> Early {
        Early { header: Header { from: 0, token: 0, immediate: 0, number, am: 0 }, slot: number, bytes: 32 }
    }

    /// A short message overtakes a long one, also where the numbers begin anew.
    #[test]
    fn what_comes_early_waits_for_its_turn() {
        for first in [0, u32::MAX - 1] {
            let number = |offset: u32| first.wrapping_add(offset);
            let mut peer = peer(first);
            assert_eq!(peer.take_turn(message(number(2)), MOST), Turn::Early);
            assert_eq!(peer.take_turn(message(number(1)), MOST), Turn::Early);
            assert_eq!(peer.next_early(), None);
            assert_eq!(peer.take_turn(message(number(0)), MOST), Turn::Next);
            let waited = [peer.next_early(), peer.next_early(), peer.next_early()];
            assert_eq!(waited, [Some(message(number(1))), Some(message(number(2))), None]);
            assert_eq!(peer.take_turn(message(number(3)), MOST), Turn::Next);
        }
    }

    #[test]
    fn numbers_that_cannot_be() {
        let mut peer = peer(7);
        assert_eq!(peer.take_turn(message(6), MOST), Turn::Never, "it was there");
        assert_eq!(peer.take_turn(message(7 + MOST), MOST), Turn::Never, "it would lie in no buffer");
        assert_eq!(peer.take_turn(message(8), MOST), Turn::Early);
        assert_eq!(peer.take_turn(message(8), MOST), Turn::Never, "twice");
    }
}
