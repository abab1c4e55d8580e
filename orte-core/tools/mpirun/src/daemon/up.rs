//! The connection to whoever started this daemon: mpirun, or a daemon between.

use crate::link::{self, Link};
use opal_core::sys;
use orte_core::oob::Frame;
use orte_core::routed::{Way, envelope};
use rustix::fd::BorrowedFd;
use std::time::{Duration, Instant};

/// Upwards.
pub struct Up {
    link: Link,
    node: u32,
    /// The other end is mpirun. A user may stop mpirun for as long as it pleases: its silence means nothing, but that of its host's
    /// system does.
    is_mpirun: bool,
    silence: Duration,
    next_beat: Instant,
    /// When this process looked at the clock last.
    looked: Instant,
}

impl Up {
    /// Of this node.
    pub fn new(link: Link, node: u32, is_mpirun: bool, silence: Duration) -> Up {
        let now = Instant::now();
        Up { link, node, is_mpirun, silence, next_beat: now, looked: now }
    }

    /// Sends mpirun a frame.
    pub fn send(&mut self, frame: &Frame) {
        self.link.send(&envelope::encode(Way::From(self.node), frame));
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
    pub fn socket(&self) -> BorrowedFd<'_> {
        self.link.socket()
    }

    /// Bytes that wait for room.
    pub fn behind(&self) -> usize {
        self.link.behind()
    }

    /// What came, and whether the connection is lost.
    pub fn receive(&mut self) -> (Vec<Vec<u8>>, bool) {
        self.link.flush();
        let news = self.link.receive();
        (news.payloads, news.lost.is_some())
    }

    /// Sends everything, waiting for room at most this long.
    pub fn drain(&mut self, patience: Duration) {
        self.link.drain(patience);
    }

    /// How long until the next sign of life.
    pub fn until_beat(&self) -> Duration {
        self.next_beat.saturating_duration_since(Instant::now())
    }

    /// Says from time to time that this daemon is alive. False when the other end has said nothing for too long.
    pub fn look_at_clock(&mut self) -> bool {
        let now = Instant::now();
        if now.duration_since(self.looked) > AWAY {
            self.link.heard = now;
        }
        self.looked = now;
        if now >= self.next_beat {
            self.next_beat = now + link::beat(self.silence);
            self.send_neighbor(&Frame::Beat);
        }
        match self.is_mpirun {
            true => !sys::is_silent(self.link.socket(), self.silence.as_millis() as u64),
            false => now.duration_since(self.link.heard) < self.silence,
        }
    }
}

/// A pause of this process's own: it has not listened.
const AWAY: Duration = Duration::from_secs(2);
