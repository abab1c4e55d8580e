//! The states of a connection; the diagram is in `lib.rs`.

use crate::handshake::HELLO_BYTES;
use crate::params::Limits;
use crate::record::Protect;
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
    /// It cannot be made from here: its messages take another one (`Tx::failover`). The peer may make it.
    FailedOver,
    /// Over.
    Closed,
}

impl State {
    /// Whether it is being made.
    pub fn is_being_made(&self) -> bool {
        matches!(
            self,
            State::Backoff { .. } | State::Connecting | State::HelloSent(_) | State::ProofSent | State::Yielded
        )
    }

    /// Whether messages leave on it now or later.
    pub fn is_usable(&self) -> bool {
        !matches!(self, State::Failed(_) | State::Refused(_) | State::FailedOver | State::Closed)
    }
}

/// How an attempt ended, or will if nobody answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptEnd {
    /// Nobody answered.
    Silent,
    /// Nobody listens.
    Refused,
    /// Somebody answered, and it did not come about.
    Answered,
}

/// A connection that broke, and what was tried since.
#[derive(Clone, Copy, Debug)]
pub struct Resume {
    /// Why it broke.
    pub why: Errno,
    /// When.
    pub since_ns: u64,
    /// When the peer counts as lost where somebody answered each attempt.
    pub deadline_ns: u64,
    /// So much later it does where somebody was silent: a host that is silent has the time that one has which nobody tries to reach
    /// otherwise.
    silence_ns: u64,
    is_silent: bool,
    /// Breaks directly before, between which nothing moved.
    pub before: u32,
    /// Attempts so far.
    pub tried: usize,
    /// Attempts that were refused.
    refused: usize,
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

    /// One more, now, when so many bytes had moved in all and with this deadline to go on; a path that is silent is noticed after
    /// `path_timeout_ns`. Returns how many there were directly before, and the deadline that counts: the first one's.
    pub fn add(&mut self, moved: u64, now: u64, deadline_ns: u64, path_timeout_ns: u64) -> (u32, u64) {
        let apart_ns = APART_NS + 2 * path_timeout_ns;
        if self.count == 0 || moved > self.moved || now.saturating_sub(self.last_ns) > apart_ns {
            *self = Breaks { moved, count: 0, last_ns: now, deadline_ns };
        }
        (self.count, self.last_ns) = (self.count + 1, now);
        (self.count - 1, self.deadline_ns)
    }
}

impl Resume {
    /// Broken now.
    pub fn new(limits: &Limits, why: Errno, now: u64) -> Resume {
        let connect_ns = limits.connect_timeout_ns;
        Resume {
            why,
            since_ns: now,
            deadline_ns: now + connect_ns,
            silence_ns: limits.silence_ns().saturating_sub(connect_ns),
            is_silent: why == Errno::TIMEDOUT,
            before: 0,
            tried: 0,
            refused: 0,
        }
    }

    /// An attempt has ended.
    pub fn note(&mut self, end: AttemptEnd) {
        self.refused += usize::from(end == AttemptEnd::Refused);
        self.is_silent |= end == AttemptEnd::Silent;
    }

    /// Whether the peer counts as lost.
    pub fn is_too_late(&self, now: u64) -> bool {
        now >= self.deadline_ns + if self.is_silent { self.silence_ns } else { 0 }
    }

    /// Whether the peer's process has ended. Who watches it `knows` ([`btl::has_ended`](opal_core::framework::btl::has_ended)). Otherwise
    /// nobody listens any more where it did: a process listens as long as it lives; but a firewall may refuse one path, and a dead path
    /// says nothing.
    pub fn has_peer_ended(&self, paths: usize, knows: Option<bool>) -> bool {
        knows.unwrap_or(self.refused >= paths || self.refused > 0 && self.tried >= 2 * paths)
    }
}

/// Where a connection is that goes back to its own path: one that lets connections through and swallows what is sent on them is taken
/// more and more rarely.
#[derive(Clone, Copy, Debug)]
pub struct Home {
    /// It takes another path.
    is_away: bool,
    /// When it came back, if it is there since.
    since_ns: Option<u64>,
    /// How often in turn it broke soon after it had come back.
    failed: u32,
}

impl Home {
    /// It was never away.
    pub const fn new() -> Home {
        Home { is_away: false, since_ns: None, failed: 0 }
    }

    /// It is in force now, on another path or its own. Returns how long it stays away at least, for this first pause.
    pub fn connected(&mut self, is_away: bool, pause_ns: u64, now: u64) -> u64 {
        let since_ns = self.since_ns.take();
        if is_away {
            let is_soon = |since: u64| now.saturating_sub(since) < STAYED_NS;
            self.failed = match since_ns {
                Some(since) if is_soon(since) => self.failed + 1,
                Some(_) => 0,
                None => self.failed,
            };
        } else if self.is_away || since_ns.is_some() {
            self.since_ns = Some(since_ns.unwrap_or(now));
        }
        self.is_away = is_away;
        self.pause_ns(pause_ns)
    }

    /// How long it waits until it asks for its path again.
    pub fn pause_ns(&self, first_ns: u64) -> u64 {
        first_ns << self.failed.min(PAUSE_DOUBLINGS)
    }
}

/// A connection that stayed on its path for so long did not break for what that path swallows.
const STAYED_NS: u64 = 60_000_000_000;
/// 17 minutes after two seconds at first.
const PAUSE_DOUBLINGS: u32 = 9;
/// Breaks that are further apart than that, and twice the time in which each is noticed, have nothing to do with each other. Longer than
/// any pause.
const APART_NS: u64 = 5_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn limits(silence_s: u64) -> Limits {
        Limits { connect_timeout_ns: 30 * SECOND, silence_timeout_ns: silence_s * SECOND, ..Limits::new() }
    }

    /// When a connection that breaks at 0 for this reason is lost, after attempts that end so.
    fn lost_after_s(silence_s: u64, why: Errno, ends: &[AttemptEnd]) -> u64 {
        let mut resume = Resume::new(&limits(silence_s), why, 0);
        ends.iter().for_each(|end| resume.note(*end));
        (0..).find(|second| resume.is_too_late(second * SECOND)).unwrap()
    }

    #[test]
    fn a_silent_host_has_the_time_of_silence() {
        use AttemptEnd::{Answered, Refused, Silent};
        assert_eq!(lost_after_s(120, Errno::TIMEDOUT, &[]), 120);
        assert_eq!(lost_after_s(120, Errno::CONNRESET, &[Answered, Answered]), 30);
        assert_eq!(lost_after_s(120, Errno::CONNRESET, &[Answered, Silent, Answered]), 120);
        assert_eq!(lost_after_s(120, Errno::CONNRESET, &[Refused, Silent]), 120);
        assert_eq!(lost_after_s(10, Errno::TIMEDOUT, &[Silent]), 30, "no less than an attempt");
        assert_eq!(lost_after_s(0, Errno::TIMEDOUT, &[]), 900, "the system would take so long");
    }

    #[test]
    fn a_path_that_breaks_again_and_again_is_taken_more_rarely() {
        let (mut home, mut now) = (Home::new(), 0);
        assert_eq!(home.connected(false, 2, now), 2);
        for pause in [2, 4, 8, 16] {
            now += SECOND;
            assert_eq!(home.connected(true, 2, now), pause);
            assert_eq!(home.connected(true, 2, now), pause, "from one other path to the next");
            home.connected(false, 2, now);
            home.connected(false, 2, now + 1);
        }
        now += 70 * SECOND;
        assert_eq!(home.connected(true, 2, now), 2, "it stayed for long");
        for _ in 0..40 {
            home.connected(false, 2, now);
            home.connected(true, 2, now);
        }
        assert_eq!(home.pause_ns(2), 1024);
    }

    #[test]
    fn breaks_without_progress_have_one_deadline() {
        let mut breaks = Breaks::new();
        assert_eq!(breaks.add(0, 1, 10, SECOND), (0, 10));
        assert_eq!(breaks.add(0, 2, 20, SECOND), (1, 10));
        assert_eq!(breaks.add(0, 3, 30, SECOND), (2, 10));
        assert_eq!(breaks.add(1, 4, 40, SECOND), (0, 40), "something moved");
        assert_eq!(breaks.add(1, 5, 50, SECOND), (1, 40));
        assert_eq!(breaks.add(1, 5 + APART_NS + 2 * SECOND, 60, SECOND), (2, 40), "each takes a second to be noticed");
        assert_eq!(breaks.add(1, 6 + 2 * (APART_NS + 2 * SECOND), 70, SECOND), (0, 70), "long ago");
    }
}
