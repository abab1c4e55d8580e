//! The node as this rank sees it: its own receive segment and an endpoint per connected rank.

use crate::endpoint::PeerEndpoint;
use crate::rx_segment::RxSegment;
use alloc::boxed::Box;
use opal_core::sync::{AtomicBool, Once};

/// Shared by sending and receiving.
pub struct Node {
    /// This rank's own.
    pub segment: RxSegment,
    // By local rank.
    endpoints: Box<[Once<PeerEndpoint>]>,
    /// A queue to some peer was found broken; the next poll reports it.
    pub broken: AtomicBool,
}

impl Node {
    /// With `ranks` ranks, none of them connected.
    pub fn new(segment: RxSegment, ranks: u32) -> Node {
        let endpoints = (0..ranks).map(|_| Once::new()).collect();
        Node { segment, endpoints, broken: AtomicBool::new(false) }
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
