//! Calling again after the connection upwards broke: one address after the other, that of the broken one last, until one answers, the other
//! end has ended, or it is too late. Nothing here waits.

use super::call::begin;
use crate::link::{Wire, notice_silent_host};
use orte_core::oob::handshake::Step;
use orte_core::oob::{Calling, Receiver, Secret, Sender};
use rustix::event::PollFlags;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, sockopt};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// Whom to call, and as whom.
#[derive(Clone)]
pub struct Whom {
    pub secret: Secret,
    pub node: u32,
    pub addresses: Vec<SocketAddr>,
    pub silence: Duration,
}

/// Calls until one of them is heard.
pub struct Recall {
    whom: Whom,
    /// Where the connection was.
    broken: Option<SocketAddr>,
    /// The place of the next address.
    next: usize,
    /// Addresses of this turn where nobody listens any more.
    refused: usize,
    attempt: Option<Attempt>,
    not_before: Instant,
    until: Instant,
}

struct Attempt {
    socket: OwnedFd,
    address: SocketAddr,
    calling: Option<Calling>,
    until: Instant,
}

/// What came of it so far.
pub enum Outcome {
    /// Nothing yet.
    Waiting,
    /// A new connection, and how many frames the other end has taken.
    Again(Box<Wire>, u64),
    /// Nobody is there.
    Over,
}

/// Why an attempt failed.
enum Failure {
    /// The host answers that nobody listens.
    Refused,
    Other,
}

impl Recall {
    /// After a connection to this address broke; tries until then.
    pub fn new(mut whom: Whom, broken: Option<SocketAddr>, until: Instant) -> Recall {
        // It may have broken with a path that others do not share.
        whom.addresses.sort_by_key(|address| Some(*address) == broken);
        Recall { whom, broken, next: 0, refused: 0, attempt: None, not_before: Instant::now(), until }
    }

    /// What to wait for.
    pub fn interest(&self) -> Option<(BorrowedFd<'_>, PollFlags)> {
        let attempt = self.attempt.as_ref()?;
        let flags = if attempt.calling.is_some() { PollFlags::IN } else { PollFlags::OUT };
        Some((attempt.socket.as_fd(), flags))
    }

    /// Goes on as far as that is possible now. `taken` frames of the other end are here.
    pub fn advance(&mut self, taken: u64) -> Outcome {
        let now = Instant::now();
        if now >= self.until {
            return Outcome::Over;
        }
        let Some(mut attempt) = self.attempt.take() else { return self.start(now) };
        match attempt.advance(&self.whom, taken) {
            Ok(Some((wire, theirs))) => Outcome::Again(Box::new(wire), theirs),
            Ok(None) if now < attempt.until => {
                self.attempt = Some(attempt);
                Outcome::Waiting
            }
            Ok(None) => self.failed(attempt.address, Failure::Other, now),
            Err(failure) => self.failed(attempt.address, failure, now),
        }
    }

    fn start(&mut self, now: Instant) -> Outcome {
        let Some(address) = self.whom.addresses.get(self.next).copied() else { return Outcome::Over };
        if now < self.not_before {
            return Outcome::Waiting;
        }
        match begin(&address) {
            Ok(socket) => {
                self.attempt = Some(Attempt { socket, address, calling: None, until: now + ANSWER });
                Outcome::Waiting
            }
            Err(errno) => self.failed(address, Failure::of(errno), now),
        }
    }

    /// The process has ended if its host says so where the connection was: another machine may have one of the other addresses. So it has
    /// if none of them is left.
    fn failed(&mut self, address: SocketAddr, failure: Failure, now: Instant) -> Outcome {
        if matches!(failure, Failure::Refused) {
            self.refused += 1;
            if self.broken == Some(address) || self.refused == self.whom.addresses.len() {
                return Outcome::Over;
            }
        }
        self.next += 1;
        if self.next == self.whom.addresses.len() {
            (self.next, self.refused) = (0, 0);
            self.not_before = now + PAUSE;
        }
        Outcome::Waiting
    }
}

impl Attempt {
    fn advance(&mut self, whom: &Whom, taken: u64) -> Result<Option<(Wire, u64)>, Failure> {
        if self.calling.is_none() {
            sockopt::socket_error(&self.socket).and_then(|result| result).map_err(Failure::of)?;
            if rustix::net::getpeername(&self.socket).is_err() {
                return Ok(None);
            }
            let nonce = opal_core::sys::random().map_err(Failure::of)?;
            let calling = Calling::again(whom.secret, whom.node, taken, nonce);
            self.send(calling.call())?;
            self.calling = Some(calling);
        }
        let Some(calling) = &mut self.calling else { return Ok(None) };
        let mut chunk = [0; 4096];
        loop {
            let read = match rustix::net::recv(&self.socket, &mut chunk[..], RecvFlags::DONTWAIT) {
                Ok((0, _)) => return Err(Failure::Other),
                Ok((read, _)) => read,
                Err(Errno::INTR) => continue,
                Err(Errno::AGAIN) => return Ok(None),
                Err(errno) => return Err(Failure::of(errno)),
            };
            // Whoever answers wrongly is somebody else.
            let step = calling.push(&chunk[..read]).map_err(|_| Failure::Other)?;
            if let Step::Trusted { keys, rest, send, theirs, .. } = step {
                self.send(&send)?;
                notice_silent_host(self.socket.as_fd(), whom.silence).map_err(Failure::of)?;
                let socket = self.socket.try_clone().map_err(|_| Failure::Other)?;
                let wire = Wire::new(socket, Sender::new(keys.daemon), Receiver::new(keys.mpirun, rest));
                return Ok(Some((wire, theirs)));
            }
        }
    }

    /// A new connection's buffer has room for both messages.
    fn send(&self, bytes: &[u8]) -> Result<(), Failure> {
        match rustix::net::send(&self.socket, bytes, SendFlags::NOSIGNAL | SendFlags::DONTWAIT) {
            Ok(sent) if sent == bytes.len() => Ok(()),
            Ok(_) => Err(Failure::Other),
            Err(errno) => Err(Failure::of(errno)),
        }
    }
}

impl Failure {
    fn of(errno: Errno) -> Failure {
        if errno == Errno::CONNREFUSED { Failure::Refused } else { Failure::Other }
    }
}

/// How long one address may take to answer.
const ANSWER: Duration = Duration::from_secs(2);
/// After all of them were tried.
const PAUSE: Duration = Duration::from_millis(200);
