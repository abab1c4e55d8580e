//! The states of a connection; the diagram is in `lib.rs`.

use crate::handshake::HELLO_BYTES;
use crate::params::Limits;
use crate::record::Protect;
use opal_core::sys;
use rustix::io::Errno;

/// How far a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// No message was sent yet.
    Idle,
    /// An attempt failed; the next one begins then.
    Backoff { until_ns: u64 },
    /// The system connects.
    Connecting,
    /// This process sent its hello and waits for the answer.
    HelloSent([u8; HELLO_BYTES]),
    /// This process sent its proof and waits for the verdict.
    ProofSent,
    /// The verdict was to wait for the connection that the peer makes.
    Yielded,
    /// In force.
    Connected,
    /// The system refused to connect or to send. The next poll closes it and reports.
    Failed(Errno),
    /// The peer proved itself and protects connections otherwise. The next poll closes it and reports.
    Refused(Protect),
    /// It cannot be made. Its messages take the connection of this id to the same peer, for ever, so that their order
    /// stays.
    FailedOver(u32),
    /// Over.
    Closed,
}

impl State {
    /// Whether messages leave on it now or later.
    pub fn is_usable(&self) -> bool {
        !matches!(self, State::Failed(_) | State::Refused(_) | State::FailedOver(_) | State::Closed)
    }
}

/// A connection that broke, and what was tried since.
#[derive(Clone, Copy, Debug)]
pub struct Resume {
    /// Why it broke.
    pub why: Errno,
    /// When the peer counts as lost.
    pub deadline_ns: u64,
    /// Breaks directly before, between which nothing moved.
    pub before: u32,
    /// Attempts so far.
    pub tried: usize,
    /// Attempts that were refused.
    pub refused: usize,
}

/// Breaks of a connection between which nothing moved: somebody lets connections through and nothing on them.
#[derive(Clone, Copy, Debug)]
pub struct Breaks {
    /// Bytes of both directions at the last one.
    moved: u64,
    count: u32,
    /// When the last one was.
    last_ns: u64,
    /// That of the first of them.
    deadline_ns: u64,
}

impl Breaks {
    /// None yet.
    pub const fn new() -> Breaks {
        Breaks { moved: 0, count: 0, last_ns: 0, deadline_ns: 0 }
    }

    /// One more, now, when so many bytes had moved in all and with this deadline to go on. Returns how many there were directly
    /// before, and the deadline that counts: the first one's.
    pub fn add(&mut self, moved: u64, now: u64, deadline_ns: u64) -> (u32, u64) {
        if self.count == 0 || moved > self.moved || now.saturating_sub(self.last_ns) > APART_NS {
            *self = Breaks { moved, count: 0, last_ns: now, deadline_ns };
        }
        (self.count, self.last_ns) = (self.count + 1, now);
        (self.count - 1, self.deadline_ns)
    }
}

impl Resume {
    /// Broken now.
    pub fn new(limits: &Limits, why: Errno) -> Resume {
        // A host that is silent has the time that one has which nobody tries to reach otherwise.
        let silence_ns = if why == Errno::TIMEDOUT { limits.silence_timeout_ns } else { 0 };
        let deadline_ns = sys::monotonic_ns() + limits.connect_timeout_ns.max(silence_ns);
        Resume { why, deadline_ns, before: 0, tried: 0, refused: 0 }
    }

    /// Whether nobody listens any more where the peer did. A process listens as long as it lives; but a firewall may refuse one
    /// path, and a dead path says nothing.
    pub fn has_peer_ended(&self, paths: usize) -> bool {
        self.refused >= paths || self.refused > 0 && self.tried >= 2 * paths
    }
}

/// Breaks that are further apart have nothing to do with each other. Longer than any pause.
const APART_NS: u64 = 5_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn breaks_without_progress_have_one_deadline() {
        let mut breaks = Breaks::new();
        assert_eq!(breaks.add(0, 1, 10), (0, 10));
        assert_eq!(breaks.add(0, 2, 20), (1, 10));
        assert_eq!(breaks.add(0, 3, 30), (2, 10));
        assert_eq!(breaks.add(1, 4, 40), (0, 40), "something moved");
        assert_eq!(breaks.add(1, 5, 50), (1, 40));
        assert_eq!(breaks.add(1, 6 + APART_NS, 60), (0, 60), "long ago");
    }
}
