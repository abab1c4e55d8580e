//! The node as this rank sees it: its own receive segment and an endpoint per connected rank.

use crate::endpoint::PeerEndpoint;
use crate::rx_segment::RxSegment;
use alloc::boxed::Box;
use opal_core::sync::{AtomicBool, Once, Ordering};

/// Shared by sending and receiving.
pub struct Node {
    /// This rank's own.
    pub segment: RxSegment,
    // By local rank.
    endpoints: Box<[Once<PeerEndpoint>]>,
    // By local rank: its process has ended.
    ended: Box<[AtomicBool]>,
    /// A queue to some peer was found broken, or a peer has ended; the next poll reports it.
    pub broken: AtomicBool,
}

impl Node {
    /// With `ranks` ranks, none of them connected.
    pub fn new(segment: RxSegment, ranks: u32) -> Node {
        let endpoints = (0..ranks).map(|_| Once::new()).collect();
        let ended = (0..ranks).map(|_| AtomicBool::new(false)).collect();
        Node { segment, endpoints, ended, broken: AtomicBool::new(false) }
    }

    /// The process of a rank has ended.
    pub fn set_ended(&self, rank: u32) {
        if let Some(ended) = self.ended.get(rank as usize) {
            ended.store(true, Ordering::Relaxed);
            // Release pairs with the Acquire of who reports it.
            self.broken.store(true, Ordering::Release);
        }
    }

    /// Whether it has.
    pub fn has_ended(&self, rank: u32) -> bool {
        self.ended.get(rank as usize).is_some_and(|ended| ended.load(Ordering::Relaxed))
    }

    /// The endpoint of a rank, if it is connected.
    #[inline(always)]
    pub fn endpoint(&self, rank: u32) -> Option<&PeerEndpoint> {
        self.endpoints.get(rank as usize)?.get()
    }

    /// How many ranks the node has.
    pub fn ranks(&self) -> u32 {
        self.endpoints.len() as u32
    }

    /// How many of them are connected.
    pub fn connected(&self) -> usize {
        self.endpoints.iter().filter(|endpoint| endpoint.get().is_some()).count()
    }

    /// Where the endpoint of a rank goes; `None` beyond the node's ranks.
    pub fn place(&self, rank: u32) -> Option<&Once<PeerEndpoint>> {
        self.endpoints.get(rank as usize)
    }
}
