//! Peers whose processes have ended, as whoever launched them says: some fabrics never tell whoever only receives. What they sent before
//! may still be on its way, and no fabric says when all of it has come.

use alloc::vec::Vec;
use core::mem;
use opal_core::wait::{Ending, ShortSleeps};

/// Ended peers that do not count as lost yet.
#[derive(Debug, Default)]
pub struct Ended {
    /// With the time at which something of them came last.
    peers: Vec<(u32, u64)>,
    /// While there are any, and until the layer above has been told of the last.
    waits: Option<(Ending, ShortSleeps)>,
}

impl Ended {
    /// None.
    pub const fn new() -> Ended {
        Ended { peers: Vec::new(), waits: None }
    }

    /// Whether there is none, of which the layer above had to be told, either.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.waits.is_none()
    }

    /// A peer has ended, or something of an ended one came now, in ns of the monotonic clock.
    pub fn note(&mut self, rank: u32, now_ns: u64) {
        match self.peers.iter_mut().find(|(ended, _)| *ended == rank) {
            Some((_, since_ns)) => *since_ns = now_ns,
            None => self.peers.push((rank, now_ns)),
        }
        self.waits.get_or_insert_with(|| (Ending::begin(), ShortSleeps::begin()));
    }

    /// Something of a peer came now.
    #[inline]
    pub fn heard(&mut self, rank: u32, now_ns: impl FnOnce() -> u64) {
        if self.peers.iter().any(|(ended, _)| *ended == rank) {
            self.note(rank, now_ns());
        }
    }

    /// Takes those of whom nothing has come for [`SILENT_NS`]; of those that it took before, the layer above has been told.
    pub fn take_silent(&mut self, now_ns: u64) -> Vec<u32> {
        if self.peers.is_empty() {
            self.waits = None;
        }
        let is_silent = |(_, since_ns): &(u32, u64)| now_ns.saturating_sub(*since_ns) >= SILENT_NS;
        let (silent, kept): (Vec<_>, Vec<_>) = mem::take(&mut self.peers).into_iter().partition(is_silent);
        self.peers = kept;
        silent.into_iter().map(|(rank, _)| rank).collect()
    }
}

/// Nothing more comes from an ended peer that was silent for so long: the time in which a lost packet is sent again, 0.2 s with Linux, and some more.
pub const SILENT_NS: u64 = 500_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_still_comes_is_waited_for() {
        let mut ended = Ended::new();
        ended.note(3, 1000);
        ended.note(5, 2000);
        ended.heard(7, || unreachable!("it has not ended"));
        assert!(ended.take_silent(SILENT_NS + 999).is_empty());
        ended.heard(3, || 1500);
        assert_eq!(ended.take_silent(SILENT_NS + 1500), [3]);
        assert_eq!(ended.take_silent(SILENT_NS + 2000), [5]);
        assert!(!ended.is_empty(), "nobody was told yet");
        assert!(ended.take_silent(u64::MAX).is_empty() && ended.is_empty());
    }
}
