//! Calling again after the connection upwards broke: one address after the other, that of the broken one last, until one answers, the other
//! end has ended, or it is too late. Nothing here waits.
//!
//! Whoever refuses may be a firewall, for some seconds. The other end has ended where it refuses and the agent that started this daemon has
//! hung up, too, or has it refuse for [`REJECTED`](crate::link::REJECTED).

use super::call::begin;
use super::greeting::{Failure, Greeting, Progress};
use crate::link::{REJECTED, Wire};
use orte_core::oob::{Calling, Secret};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::sockopt;
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
    /// When it broke.
    since: Instant,
    /// The place of the next address.
    next: usize,
    /// Addresses of this turn where nobody listens any more.
    refused: usize,
    attempt: Option<Attempt>,
    not_before: Instant,
    until: Instant,
}

struct Attempt {
    step: Step,
    address: SocketAddr,
    until: Instant,
}

enum Step {
    /// The system connects.
    Connecting(OwnedFd),
    Greeting(Greeting),
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

impl Recall {
    /// After a connection to this address broke; tries until then.
    pub fn new(mut whom: Whom, broken: Option<SocketAddr>, until: Instant) -> Recall {
        // It may have broken with a path that others do not share.
        whom.addresses.sort_by_key(|address| Some(*address) == broken);
        let since = Instant::now();
        Recall { whom, broken, since, next: 0, refused: 0, attempt: None, not_before: since, until }
    }

    /// What to wait for.
    pub fn interest(&self) -> Option<(BorrowedFd<'_>, PollFlags)> {
        let attempt = self.attempt.as_ref()?;
        Some(match &attempt.step {
            Step::Connecting(socket) => (socket.as_fd(), PollFlags::OUT),
            Step::Greeting(greeting) => (greeting.socket(), PollFlags::IN),
        })
    }

    /// Goes on as far as that is possible now. `taken` frames of the other end are here.
    pub fn advance(&mut self, taken: u64) -> Outcome {
        let now = Instant::now();
        if now >= self.until {
            return Outcome::Over;
        }
        let Some(Attempt { step, address, until }) = self.attempt.take() else { return self.start(now) };
        match step.advance(&self.whom, taken) {
            Ok(Advanced::Done(wire, theirs)) => Outcome::Again(wire, theirs),
            Ok(Advanced::Waiting(step)) if now < until => {
                self.attempt = Some(Attempt { step, address, until });
                Outcome::Waiting
            }
            Ok(Advanced::Waiting(_)) => self.failed(address, false, now),
            Err(failure) => self.failed(address, is_refusal(&failure), now),
        }
    }

    fn start(&mut self, now: Instant) -> Outcome {
        let Some(address) = self.whom.addresses.get(self.next).copied() else { return Outcome::Over };
        if now < self.not_before {
            return Outcome::Waiting;
        }
        match begin(&address) {
            Ok(socket) => {
                self.attempt = Some(Attempt { step: Step::Connecting(socket), address, until: now + ANSWER });
                Outcome::Waiting
            }
            Err(errno) => self.failed(address, errno == Errno::CONNREFUSED, now),
        }
    }

    /// The process may have ended if its host says so where the connection was: another machine may have one of the other addresses. So it
    /// may if none of them is left.
    fn failed(&mut self, address: SocketAddr, is_refused: bool, now: Instant) -> Outcome {
        if is_refused {
            self.refused += 1;
            let may_have_ended = self.broken == Some(address) || self.refused == self.whom.addresses.len();
            if may_have_ended && (now >= self.since + REJECTED || has_hung_up(rustix::stdio::stderr())) {
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

/// How far an attempt is.
enum Advanced {
    Waiting(Step),
    Done(Box<Wire>, u64),
}

impl Step {
    fn advance(self, whom: &Whom, taken: u64) -> Result<Advanced, Failure> {
        let greeting = match self {
            Step::Greeting(greeting) => greeting,
            Step::Connecting(socket) => {
                sockopt::socket_error(&socket).and_then(|result| result).map_err(Failure::System)?;
                if rustix::net::getpeername(&socket).is_err() {
                    return Ok(Advanced::Waiting(Step::Connecting(socket)));
                }
                let nonce = opal_core::sys::random().map_err(Failure::System)?;
                Greeting::begin(socket, Calling::again(whom.secret, whom.node, taken, nonce), whom.silence)?
            }
        };
        Ok(match greeting.advance()? {
            Progress::Waiting(greeting) => Advanced::Waiting(Step::Greeting(greeting)),
            Progress::Done(wire, theirs) => Advanced::Done(Box::new(wire), theirs),
        })
    }
}

/// Whether nobody is left who would read what is written there. sshd(8) closes its end when the client has gone, which mpirun takes along
/// when it ends.
fn has_hung_up(output: BorrowedFd<'_>) -> bool {
    let mut poll = [PollFd::from_borrowed_fd(output, PollFlags::empty())];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    let gone = PollFlags::ERR | PollFlags::HUP;
    rustix::event::poll(&mut poll, Some(&now)).is_ok() && poll[0].revents().intersects(gone)
}

/// The host answers that nobody listens.
fn is_refusal(failure: &Failure) -> bool {
    matches!(failure, Failure::System(Errno::CONNREFUSED))
}

/// How long one address may take to answer.
const ANSWER: Duration = Duration::from_secs(2);
/// After all of them were tried.
const PAUSE: Duration = Duration::from_millis(200);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_that_has_gone_has_hung_up() {
        let (reader, writer) = rustix::pipe::pipe().unwrap();
        assert!(!has_hung_up(writer.as_fd()));
        drop(reader);
        assert!(has_hung_up(writer.as_fd()));
        let (near, far) = std::os::unix::net::UnixStream::pair().unwrap();
        // As a client of ssh that says nothing more.
        far.shutdown(std::net::Shutdown::Write).unwrap();
        assert!(!has_hung_up(near.as_fd()));
        drop(far);
        assert!(has_hung_up(near.as_fd()));
        assert!(!has_hung_up(std::fs::File::open("/dev/null").unwrap().as_fd()));
    }
}
