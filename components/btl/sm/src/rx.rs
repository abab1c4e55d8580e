//! Receiving: the queues of this rank's own segment.

use crate::endpoint::PeerEndpoint;
use crate::node::Node;
use alloc::boxed::Box;
use alloc::vec::Vec;
use opal_core::framework::btl;
use opal_core::message;
use opal_core::sync::Ordering;

/// The receiver's state; the thread that polls holds it.
pub struct Rx {
    // By local rank: the caller's number for it, once it is connected.
    peers: Box<[u32]>,
    // Local ranks that are connected and have sent something, in the order in which they appeared.
    active: Vec<u32>,
    // The part of the sender bitmap that `active` covers.
    seen: Box<[u64]>,
    own_rank: u32,
}

const UNKNOWN: u32 = u32::MAX;

impl Rx {
    /// Of rank `own_rank` of `ranks`, without peers.
    pub fn new(own_rank: u32, ranks: u32) -> Rx {
        let peers = (0..ranks).map(|_| UNKNOWN).collect();
        let seen = (0..ranks.div_ceil(64)).map(|_| 0).collect();
        Rx { peers, active: Vec::new(), seen, own_rank }
    }

    /// Receives from rank `rank` of the node from now on, as from `peer`.
    pub fn register(&mut self, rank: u32, peer: u32) {
        self.peers[rank as usize] = peer;
    }

    /// Receives nothing from a rank any more.
    pub fn drop_rank(&mut self, rank: u32) {
        self.peers[rank as usize] = UNKNOWN;
        self.active.retain(|active| *active != rank);
    }

    /// Takes everything; returns how many messages.
    #[inline]
    pub fn poll(&mut self, node: &Node) -> usize {
        for index in 0..self.seen.len() {
            // Acquire pairs with the Release in `mark_sender`.
            if node.segment.sender_bitmap(index).load(Ordering::Acquire) != self.seen[index] {
                self.look_for_senders(node, index);
            }
        }
        let mut taken = 0;
        for rank in &self.active {
            taken += drain(node, *rank);
        }
        // Acquire: see `Node::set_ended`.
        if node.broken.load(Ordering::Acquire) {
            taken += self.report_broken(node);
        }
        taken
    }

    #[cold]
    #[inline(never)]
    fn look_for_senders(&mut self, node: &Node, index: usize) {
        if index == self.own_rank as usize / 64 && node.segment.take_closed(self.own_rank) {
            close_given_up(node, self.peers.len() as u32);
        }
        let mut new = node.segment.sender_bitmap(index).load(Ordering::Acquire) & !self.seen[index];
        while new != 0 {
            let bit = new.trailing_zeros();
            new &= new - 1;
            let rank = index as u32 * 64 + bit;
            // A rank that is not connected yet keeps its bit unseen; bits beyond the node's ranks mean nothing.
            if self.peers.get(rank as usize).is_some_and(|peer| *peer != UNKNOWN) {
                self.seen[index] |= 1 << bit;
                self.active.push(rank);
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn report_broken(&mut self, node: &Node) -> usize {
        node.broken.store(false, Ordering::Relaxed);
        let mut moved = 0;
        for rank in 0..self.peers.len() as u32 {
            let peer = self.peers[rank as usize];
            let Some(endpoint) = node.endpoint(rank).filter(|_| peer != UNKNOWN) else { continue };
            if node.has_ended(rank) {
                moved += core::iter::repeat_with(|| drain(node, rank)).take_while(|taken| *taken > 0).sum::<usize>();
                endpoint.fifo_pair().close();
            }
            if endpoint.fifo_pair().is_closed() {
                self.drop_rank(rank);
                btl::failed(peer);
                moved += 1;
            }
        }
        moved
    }
}

/// Takes what a rank has sent; returns how many messages.
#[inline(always)]
fn drain(node: &Node, rank: u32) -> usize {
    let Some(endpoint) = node.endpoint(rank) else { return 0 };
    let drained = btl::drain(endpoint.fifo_pair(), endpoint.peer);
    if drained.malformed {
        close_malformed(node, endpoint);
    }
    if drained.made_room {
        endpoint.wake();
    }
    drained.taken
}

/// Closes the queues that peers have given up.
fn close_given_up(node: &Node, ranks: u32) {
    let given_up = (0..ranks).filter(|rank| node.segment.is_closed_by(*rank));
    for endpoint in given_up.filter_map(|rank| node.endpoint(rank)) {
        if !endpoint.fifo_pair().close() {
            let peer = endpoint.peer;
            message!(
                "btl/sm: process {peer} found what it shares with this process overwritten; the connection to it is closed"
            );
            node.broken.store(true, Ordering::Relaxed);
        }
    }
}

#[cold]
#[inline(never)]
fn close_malformed(node: &Node, endpoint: &PeerEndpoint) {
    endpoint.give_up();
    let peer = endpoint.peer;
    message!("btl/sm: process {peer} wrote a message that does not follow the format; the connection to it is closed");
    node.broken.store(true, Ordering::Relaxed);
}
