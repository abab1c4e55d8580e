//! The handshake of a daemon with whom it has called, on a connection that stands. Nothing here waits.

use crate::link::{Wire, notice_silent_host};
use orte_core::oob::handshake::Step;
use orte_core::oob::{Calling, OobFlaw, Receiver, Sender};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};
use std::time::Duration;

/// A handshake that has begun.
pub struct Greeting {
    socket: OwnedFd,
    calling: Calling,
    /// How long the other end's host may be silent afterwards.
    silence: Duration,
}

/// How far a handshake is.
pub enum Progress {
    /// It is the other end's turn.
    Waiting(Greeting),
    /// Both trust each other: the connection, and how many frames the other end has taken.
    Done(Wire, u64),
}

/// Why a handshake ended.
pub enum Failure {
    /// The other end closed the connection.
    HungUp,
    /// It takes nothing.
    Full,
    /// The system says no.
    System(Errno),
    /// Whoever answers wrongly is somebody else.
    Flaw(OobFlaw),
}

impl Greeting {
    /// Says who calls.
    pub fn begin(socket: OwnedFd, calling: Calling, silence: Duration) -> Result<Greeting, Failure> {
        send(&socket, calling.call())?;
        Ok(Greeting { socket, calling, silence })
    }

    /// To wait for what the other end says.
    pub fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Takes what has come.
    pub fn advance(mut self) -> Result<Progress, Failure> {
        let mut chunk = [0; 4096];
        loop {
            let read = match rustix::net::recv(&self.socket, &mut chunk[..], RecvFlags::DONTWAIT) {
                Ok((0, _)) | Err(Errno::CONNRESET) => return Err(Failure::HungUp),
                Ok((read, _)) => read,
                Err(Errno::INTR) => continue,
                Err(Errno::AGAIN) => return Ok(Progress::Waiting(self)),
                Err(errno) => return Err(Failure::System(errno)),
            };
            let step = self.calling.push(&chunk[..read]).map_err(Failure::Flaw)?;
            if let Step::Trusted { keys, rest, send: bytes, theirs, .. } = step {
                send(&self.socket, &bytes)?;
                notice_silent_host(self.socket.as_fd(), self.silence).map_err(Failure::System)?;
                let wire = Wire::new(self.socket, Sender::new(keys.daemon), Receiver::new(keys.mpirun, rest));
                return Ok(Progress::Done(wire, theirs));
            }
        }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::HungUp => f.write_str(HUNG_UP),
            Failure::Full => f.write_str("it takes nothing"),
            Failure::System(errno) => errno.fmt(f),
            Failure::Flaw(flaw) => flaw.fmt(f),
        }
    }
}

/// A new connection's buffer has room for both messages.
fn send(socket: &OwnedFd, bytes: &[u8]) -> Result<(), Failure> {
    match rustix::net::send(socket, bytes, SendFlags::NOSIGNAL | SendFlags::DONTWAIT) {
        Ok(sent) if sent == bytes.len() => Ok(()),
        Ok(_) => Err(Failure::Full),
        Err(errno) => Err(Failure::System(errno)),
    }
}

/// Of who was called and does not want to hear more.
pub const HUNG_UP: &str = "it hung up";
