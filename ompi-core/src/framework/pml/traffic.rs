//! What a communicator's peers were sent and what was received of them: counted by a PML from the moment a tool asks.

use alloc::boxed::Box;
use opal_core::sync::{AtomicU32, AtomicU64, Once, Ordering};

/// The user's messages on one communicator, by peer. Those of collectives are no part of it.
pub struct Traffic {
    peers: Box<[PeerTraffic]>,
    // The number of the communicator.
    context: u32,
    // The processes of the ranks.
    processes: Box<[u32]>,
}

/// A message of the user's, for who traces them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageEvent {
    /// What happened.
    pub what: Happened,
    /// The number of the communicator.
    pub context: u32,
    /// The other process.
    pub process: u32,
    /// The tag; -1 where it is not known.
    pub tag: i32,
    /// Bytes of the message.
    pub bytes: u64,
}

/// What can happen to a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happened {
    /// A send was called.
    Posted,
    /// It met its receive.
    Matched,
    /// It arrived, and no receive matches it.
    Unexpected,
    /// It was unexpected, and met a receive or was taken by a matched probe.
    Expected,
    /// Its receive is complete.
    Completed,
}

impl Happened {
    /// A word for it.
    pub fn name(self) -> &'static str {
        match self {
            Happened::Posted => "posted",
            Happened::Matched => "matched",
            Happened::Unexpected => "unexpected arrived",
            Happened::Expected => "unexpected removed",
            Happened::Completed => "completed",
        }
    }
}

/// Who may want to hear of each message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observer {
    /// The trace of the whole process.
    Trace,
    /// The tool interface.
    Tools,
}

// A bit for each that listens now.
static OBSERVED: AtomicU32 = AtomicU32::new(0);
static OBSERVERS: [Once<fn(&MessageEvent)>; 2] = [const { Once::new() }; 2];

/// Whether somebody wants to hear of each message: no fast path tells.
#[inline(always)]
pub fn is_observed() -> bool {
    // Relaxed: who begins to listen hears of what happens a little later.
    OBSERVED.load(Ordering::Relaxed) != 0
}

/// Tells of a message that is unexpected, or no more.
#[inline(always)]
pub fn tell_unexpected(what: Happened, context: u32, process: u32, tag: i32, bytes: u64) {
    if is_observed() {
        observe(&MessageEvent { what, context, process, tag, bytes });
    }
}

#[cold]
#[inline(never)]
fn observe(event: &MessageEvent) {
    let observed = OBSERVED.load(Ordering::Relaxed);
    for (number, observer) in OBSERVERS.iter().enumerate() {
        if let Some(observer) = observer.get().filter(|_| observed & 1 << number != 0) {
            observer(event);
        }
    }
}

/// Has this called for each message that is counted, and for unexpected ones, with the PML's lock held: it must not call the PML.
pub fn observe_messages(who: Observer, observer: fn(&MessageEvent)) {
    OBSERVERS[who as usize].call_once(|| observer);
    OBSERVED.fetch_or(1 << who as u32, Ordering::SeqCst);
}

/// That one wants to hear of messages no more.
pub fn ignore_messages(who: Observer) {
    OBSERVED.fetch_and(!(1 << who as u32), Ordering::SeqCst);
}

/// The messages of one peer.
pub struct PeerTraffic {
    // While one thread has the queue to the peer.
    pushed: AtomicU64,
    pushed_bytes: AtomicU64,
    received: AtomicU64,
    received_bytes: AtomicU64,
    // Those that took another way.
    sent: AtomicU64,
    sent_bytes: AtomicU64,
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
    /// Nothing yet, for the communicator of this number, whose ranks are these processes.
    pub fn new(context: u32, processes: Box<[u32]>) -> Traffic {
        Traffic { peers: processes.iter().map(|_| PeerTraffic::nothing()).collect(), context, processes }
    }

    /// Number of peers.
    pub fn peers(&self) -> usize {
        self.peers.len()
    }

    /// A message was sent to a rank; MPI_PROC_NULL counts nothing.
    #[cold]
    #[inline(never)]
    pub fn sent(&self, rank: i32, tag: i32, bytes: usize) {
        if let Some(peer) = self.peer(rank) {
            peer.sent(bytes);
            self.tell(Happened::Posted, rank, tag, bytes);
        }
    }

    /// A message of a rank met its receive; MPI_PROC_NULL counts nothing. As for [`PeerTraffic::received`].
    #[cold]
    #[inline(never)]
    pub fn matched(&self, rank: i32, tag: i32, bytes: usize) {
        if let Some(peer) = self.peer(rank) {
            peer.received(bytes);
            self.tell(Happened::Matched, rank, tag, bytes);
        }
    }

    /// As [`Traffic::matched`] of a message that is copied at once: its receive completes, too.
    #[cold]
    #[inline(never)]
    pub fn received(&self, rank: i32, tag: i32, bytes: usize) {
        self.matched(rank, tag, bytes);
        self.completed(rank, tag, bytes);
    }

    /// The receive of a message that was [`Traffic::matched`] is complete.
    #[cold]
    #[inline(never)]
    pub fn completed(&self, rank: i32, tag: i32, bytes: usize) {
        if self.peer(rank).is_some() {
            self.tell(Happened::Completed, rank, tag, bytes);
        }
    }

    /// The messages of one rank, for a fast path that counts and tells nobody ([`is_observed`]).
    #[inline(always)]
    pub fn peer(&self, rank: i32) -> Option<&PeerTraffic> {
        self.peers.get(rank as u32 as usize)
    }

    #[inline(always)]
    fn tell(&self, what: Happened, rank: i32, tag: i32, bytes: usize) {
        if is_observed() {
            let process = self.processes.get(rank as u32 as usize).copied().unwrap_or(u32::MAX);
            observe(&MessageEvent { what, context: self.context, process, tag, bytes: bytes as u64 });
        }
    }

    /// Adds what another one with as many peers has counted.
    pub fn add(&self, other: &Traffic) {
        for (own, counts) in self.peers.iter().zip(other.all()) {
            for (place, more) in
                [&own.sent, &own.sent_bytes, &own.received, &own.received_bytes].into_iter().zip(counts)
            {
                place.fetch_add(more, Ordering::Relaxed);
            }
        }
    }

    /// What was counted by now, for each peer: sent, their bytes, received, their bytes.
    pub fn all(&self) -> impl Iterator<Item = [u64; 4]> {
        const ALL: [TrafficCount; 4] =
            [TrafficCount::Sent, TrafficCount::SentBytes, TrafficCount::Received, TrafficCount::ReceivedBytes];
        self.peers.iter().map(|peer| ALL.map(|count| peer.now(count)))
    }

    /// What was counted by now, for each peer.
    pub fn now(&self, count: TrafficCount) -> impl Iterator<Item = u64> {
        self.peers.iter().map(move |peer| peer.now(count))
    }
}

impl PeerTraffic {
    /// Nothing yet.
    pub const fn nothing() -> PeerTraffic {
        PeerTraffic {
            pushed: AtomicU64::new(0),
            pushed_bytes: AtomicU64::new(0),
            received: AtomicU64::new(0),
            received_bytes: AtomicU64::new(0),
            sent: AtomicU64::new(0),
            sent_bytes: AtomicU64::new(0),
        }
    }

    /// A message was sent, by any thread.
    #[inline(always)]
    pub fn sent(&self, bytes: usize) {
        // Relaxed, here and below: numbers only.
        self.sent.fetch_add(1, Ordering::Relaxed);
        self.sent_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// The same by who has the queue to the peer, one thread at a time: two instructions.
    #[inline(always)]
    pub fn pushed(&self, bytes: usize) {
        add(&self.pushed, 1);
        add(&self.pushed_bytes, bytes as u64);
    }

    /// A message met its receive. One thread at a time: the PML's lock of matching is held, where there are several.
    #[inline(always)]
    pub fn received(&self, bytes: usize) {
        add(&self.received, 1);
        add(&self.received_bytes, bytes as u64);
    }

    fn now(&self, count: TrafficCount) -> u64 {
        let sum = |one: &AtomicU64, other: &AtomicU64| {
            one.load(Ordering::Relaxed).wrapping_add(other.load(Ordering::Relaxed))
        };
        match count {
            TrafficCount::Sent => sum(&self.pushed, &self.sent),
            TrafficCount::SentBytes => sum(&self.pushed_bytes, &self.sent_bytes),
            TrafficCount::Received => self.received.load(Ordering::Relaxed),
            TrafficCount::ReceivedBytes => self.received_bytes.load(Ordering::Relaxed),
        }
    }
}

#[inline(always)]
fn add(place: &AtomicU64, more: u64) {
    place.store(place.load(Ordering::Relaxed).wrapping_add(more), Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn by_peer() {
        let traffic = Traffic::new(0, Box::new([0, 1, 2]));
        traffic.sent(1, 7, 10);
        traffic.sent(1, 7, 5);
        traffic.received(2, 7, 7);
        traffic.sent(crate::status::PROC_NULL, 7, 9);
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
