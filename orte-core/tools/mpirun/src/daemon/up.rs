//! The connection to whoever started this daemon: mpirun, or a daemon between.

use super::recall::{Outcome, Recall, Whom};
use crate::link::{self, Link};
use opal_core::sys;
use orte_core::oob::Frame;
use orte_core::routed::{Way, envelope};
use rustix::event::PollFlags;
use rustix::fd::BorrowedFd;
use std::time::{Duration, Instant};

/// Upwards.
pub struct Up {
    link: Link,
    whom: Whom,
    /// While the connection is made again.
    recall: Option<Recall>,
    /// The other end is mpirun. A user may stop mpirun for as long as it pleases: its silence means nothing, but that of its host's
    /// system does.
    is_mpirun: bool,
    next_beat: Instant,
    /// When this process looked at the clock last.
    looked: Instant,
}

impl Up {
    /// Over this connection to whom.
    pub fn new(link: Link, whom: Whom, is_mpirun: bool) -> Up {
        let now = Instant::now();
        Up { link, whom, recall: None, is_mpirun, next_beat: now, looked: now }
    }

    /// Sends mpirun a frame.
    pub fn send(&mut self, frame: &Frame) {
        self.link.send(&envelope::encode(Way::From(self.whom.node), frame));
    }

    /// Sends the other end a frame.
    pub fn send_neighbor(&mut self, frame: &Frame) {
        self.link.send(&envelope::encode(Way::Neighbor, frame));
    }

    /// Passes on what came from below.
    pub fn pass(&mut self, bytes: &[u8]) {
        self.link.send(bytes);
    }

    /// What to wait for.
    pub fn interest(&self) -> Option<(BorrowedFd<'_>, PollFlags)> {
        if let Some(recall) = &self.recall {
            return recall.interest();
        }
        let out = if self.link.is_behind() { PollFlags::OUT } else { PollFlags::empty() };
        self.link.socket().map(|socket| (socket, PollFlags::IN | out))
    }

    /// Bytes that wait for room.
    pub fn behind(&self) -> usize {
        self.link.behind()
    }

    /// What came, and whether the connection is lost.
    pub fn receive(&mut self) -> (Vec<Vec<u8>>, bool) {
        self.link.flush();
        let news = self.link.receive();
        if news.broken.is_some() {
            self.call_again(Instant::now() + self.whom.silence);
        }
        (news.payloads, news.lost.is_some())
    }

    /// Sends everything, waiting at most this long until it has arrived, and longer where the connection is made again.
    pub fn drain(&mut self, patience: Duration) {
        let end = Instant::now() + patience;
        loop {
            let (_, is_lost) = self.receive();
            let is_late = self.recall.is_none() && Instant::now() >= end;
            if is_lost || is_late || self.link.has_arrived() || self.look_at_clock() == Pulse::Lost {
                return;
            }
            sys::nap_us(500);
        }
    }

    fn call_again(&mut self, until: Instant) {
        self.link.break_off();
        self.recall = Some(Recall::new(self.whom.clone(), self.link.peer, until));
    }

    /// How long until the next sign of life.
    pub fn until_beat(&self) -> Duration {
        self.next_beat.saturating_duration_since(Instant::now())
    }

    /// Says from time to time that this daemon is alive, and makes a broken connection again.
    pub fn look_at_clock(&mut self) -> Pulse {
        let now = Instant::now();
        if now.duration_since(self.looked) > AWAY {
            self.link.heard = now;
        }
        self.looked = now;
        if let Some(recall) = &mut self.recall {
            let taken = self.link.taken();
            match recall.advance(taken) {
                Outcome::Waiting => {}
                Outcome::Again(wire, theirs) => {
                    self.recall = None;
                    let resumed = self.link.resume(*wire, taken, theirs);
                    return if resumed.is_ok() { Pulse::Again } else { Pulse::Lost };
                }
                Outcome::Over => return Pulse::Lost,
            }
        }
        if now >= self.next_beat {
            self.next_beat = now + link::beat(self.whom.silence);
            if self.recall.is_none() {
                self.send_neighbor(&Frame::Beat);
            }
        }
        let path = link::path(self.whom.silence);
        if self.link.socket().is_some_and(|socket| sys::is_silent(socket, path.as_millis() as u64)) {
            self.call_again(now + self.whom.silence.saturating_sub(path));
        }
        match self.is_mpirun || now.duration_since(self.link.heard) < self.whom.silence {
            true => Pulse::Alive,
            false => Pulse::Lost,
        }
    }
}

/// How it is with the other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pulse {
    /// Nothing says that it is not there.
    Alive,
    /// The connection was made again, and something may have come.
    Again,
    /// It has said nothing for too long, or has ended.
    Lost,
}

/// A pause of this process's own: it has not listened.
const AWAY: Duration = Duration::from_secs(2);
