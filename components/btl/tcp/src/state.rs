//! The states of a connection; the diagram is in `lib.rs`.

use crate::handshake::HELLO_BYTES;
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
