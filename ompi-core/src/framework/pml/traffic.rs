//! What a communicator's peers were sent and what was received of them: counted by a PML from the moment a tool asks.

use alloc::boxed::Box;
use opal_core::sync::{AtomicU64, Ordering};

/// The user's messages on one communicator, by peer. Those of collectives are no part of it.
pub struct Traffic {
    peers: Box<[PeerTraffic]>,
}

/// The messages of one peer.
#[derive(Default)]
pub struct PeerTraffic {
    sent: AtomicU64,
    sent_bytes: AtomicU64,
    received: AtomicU64,
    received_bytes: AtomicU64,
}

/// What is counted for each peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrafficCount {
    /// Messages that were sent.
    Sent,
    /// Their bytes.
    SentBytes,
    /// Messages that met their receive.
    Received,
    /// Their bytes, as many as the receives had room for.
    ReceivedBytes,
}

impl Traffic {
    /// Nothing yet, for so many peers.
    pub fn new(peers: usize) -> Traffic {
        Traffic { peers: (0..peers).map(|_| PeerTraffic::default()).collect() }
    }

    /// Number of peers.
    pub fn peers(&self) -> usize {
        self.peers.len()
    }

    /// A message was sent to a rank; MPI_PROC_NULL counts nothing.
    pub fn sent(&self, rank: i32, bytes: usize) {
        if let Some(peer) = self.peers.get(rank as u32 as usize) {
            // Relaxed: numbers only; several threads may send at once.
            peer.sent.fetch_add(1, Ordering::Relaxed);
            peer.sent_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        }
    }

    /// A message of a rank met its receive; MPI_PROC_NULL counts nothing.
    pub fn received(&self, rank: i32, bytes: usize) {
        if let Some(peer) = self.peers.get(rank as u32 as usize) {
            peer.received.fetch_add(1, Ordering::Relaxed);
            peer.received_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        }
    }

    /// What was counted by now, for each peer.
    pub fn now(&self, count: TrafficCount) -> impl Iterator<Item = u64> {
        self.peers.iter().map(move |peer| {
            let place = match count {
                TrafficCount::Sent => &peer.sent,
                TrafficCount::SentBytes => &peer.sent_bytes,
                TrafficCount::Received => &peer.received,
                TrafficCount::ReceivedBytes => &peer.received_bytes,
            };
            place.load(Ordering::Relaxed)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn by_peer() {
        let traffic = Traffic::new(3);
        traffic.sent(1, 10);
        traffic.sent(1, 5);
        traffic.received(2, 7);
        traffic.sent(crate::status::PROC_NULL, 9);
        let now = |count| traffic.now(count).collect::<Vec<u64>>();
        assert_eq!(
            (now(TrafficCount::Sent), now(TrafficCount::SentBytes)),
            (Vec::from([0, 2, 0]), Vec::from([0, 15, 0]))
        );
        assert_eq!(
            (now(TrafficCount::Received), now(TrafficCount::ReceivedBytes)),
            (Vec::from([0, 0, 1]), Vec::from([0, 0, 7]))
        );
    }
}
