//! Receiving: the queues of this process's own inbox.

use crate::module::Sm;
use crate::send::Outbound;
use alloc::boxed::Box;
use alloc::vec::Vec;
use opal_core::framework::btl;
use opal_core::message;
use opal_core::sync::Ordering;

/// The receiving side's state; held by who polls.
pub struct Receiving {
    // By local rank: who it is, once it is known.
    peers: Box<[u32]>,
    // Local ranks that have sent something and are known, in the order in which they appeared.
    active: Vec<u32>,
    // The part of the inbound bitmap that `active` covers.
    seen: Box<[u64]>,
}

const UNKNOWN: u32 = u32::MAX;

impl Receiving {
    /// From nobody yet.
    pub fn new(ranks: u32) -> Receiving {
        let peers = (0..ranks).map(|_| UNKNOWN).collect();
        let seen = (0..ranks.div_ceil(64)).map(|_| 0).collect();
        Receiving { peers, active: Vec::new(), seen }
    }

    /// From now on what rank `rank` of the node sends is taken, as coming from `peer`.
    pub fn admit(&mut self, rank: u32, peer: u32) {
        self.peers[rank as usize] = peer;
    }

    /// Nothing is taken from it any more.
    pub fn dismiss(&mut self, rank: u32) {
        self.peers[rank as usize] = UNKNOWN;
        self.active.retain(|active| *active != rank);
    }

    /// Takes everything; returns how many messages.
    #[inline]
    pub fn poll(&mut self, sm: &Sm) -> usize {
        for index in 0..self.seen.len() {
            // Acquire pairs with the Release in `mark_inbound`.
            if sm.inbox().inbound(index).load(Ordering::Acquire) != self.seen[index] {
                self.look_for_senders(sm, index);
            }
        }
        let mut taken = 0;
        for place in 0..self.active.len() {
            taken += self.drain(sm, place);
        }
        if sm.broken.load(Ordering::Relaxed) {
            self.tell_broken(sm);
        }
        taken
    }

    #[inline(always)]
    fn drain(&mut self, sm: &Sm, place: usize) -> usize {
        let rank = self.active[place];
        let Some(outbound) = sm.outbound(rank) else { return 0 };
        let drained = btl::drain(outbound.fifo_pair(), outbound.peer);
        if drained.malformed {
            close_malformed(sm, outbound);
        }
        drained.taken
    }

    #[cold]
    #[inline(never)]
    fn look_for_senders(&mut self, sm: &Sm, index: usize) {
        let mut new = sm.inbox().inbound(index).load(Ordering::Acquire) & !self.seen[index];
        while new != 0 {
            let bit = new.trailing_zeros();
            new &= new - 1;
            let rank = index as u32 * 64 + bit;
            // Who is not connected yet keeps its bit unseen; bits beyond the node's ranks are nobody's.
            if self.peers.get(rank as usize).is_some_and(|peer| *peer != UNKNOWN) {
                self.seen[index] |= 1 << bit;
                self.active.push(rank);
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn tell_broken(&mut self, sm: &Sm) {
        sm.broken.store(false, Ordering::Relaxed);
        for rank in 0..self.peers.len() as u32 {
            let closed = sm.outbound(rank).is_some_and(|outbound| outbound.fifo_pair().is_closed());
            let peer = self.peers[rank as usize];
            if closed && peer != UNKNOWN {
                self.dismiss(rank);
                btl::failed(peer);
            }
        }
    }
}

#[cold]
#[inline(never)]
fn close_malformed(sm: &Sm, outbound: &Outbound) {
    outbound.fifo_pair().close();
    let peer = outbound.peer;
    message!("btl/sm: process {peer} wrote a message that does not follow the format; the connection to it is closed");
    sm.broken.store(true, Ordering::Relaxed);
}
