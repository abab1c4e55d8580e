//! Out-of-band messages (oob): what mpirun and the daemons of other hosts say to each other, over TCP connections; [`crate::routed`] says
//! between whom.
//!
//! | file | what |
//! |---|---|
//! | [`invitation`] | what a daemon is told at its start, by standard input of the agent that starts it: where to call, and the secret |
//! | [`handshake`] | both sides prove that they know the secret; a connection's keys |
//! | [`sealed`] | frames of a connection: length, number, proof |
//! | [`resume`] | what goes on when a connection is made again: counts, and frames that are kept |
//! | [`frame`] | what the frames say |
//! | [`orders`] | the longest of them: what daemons are to start |
//! | [`compact`] | the nodes of ranks and the names of nodes in few bytes |
//! | [`interfaces`] | at which of this machine's addresses others call |
//! | [`bytes`] | how numbers and texts are written |
//!
//! All of it is pure: bytes in, bytes out. The sockets are mpirun's.
//!
//! **Invariant:** whatever bytes come, nothing here panics, and nothing is reserved that they do not hold.

pub mod bytes;
pub mod compact;
pub mod frame;
pub mod handshake;
pub mod interfaces;
pub mod invitation;
pub mod orders;
pub mod resume;
pub mod sealed;

pub use frame::Frame;
pub use handshake::{Accepting, Calling, Keys};
pub use invitation::Invitation;
pub use orders::{App, Daemons, JobOrders};
pub use resume::Resumable;
pub use sealed::{Receiver, Sender};

/// Raised when a frame, the handshake or the invitation changes.
pub const PROTOCOL: u32 = 9;
/// Bytes of the secret of a job.
pub const SECRET_BYTES: usize = 32;
/// What only mpirun and its daemons know.
pub type Secret = [u8; SECRET_BYTES];

/// Why bytes of the other side's were refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OobFlaw {
    /// They end too early, or go on too long.
    Length,
    /// Longer than any frame may be.
    TooLong(u64),
    /// This field holds what it cannot hold.
    Field(&'static str),
    /// They do not begin as a daemon's call does.
    Magic,
    /// A daemon of another protocol.
    Protocol(u32),
    /// The proof is wrong: the other side does not know the secret, or somebody changed what it sent.
    Proof,
}

impl core::fmt::Display for OobFlaw {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            OobFlaw::Length => f.write_str("the message has a wrong length"),
            OobFlaw::TooLong(bytes) => write!(f, "the message claims to have {bytes} bytes"),
            OobFlaw::Field(name) => write!(f, "the message has a wrong {name}"),
            OobFlaw::Magic => f.write_str("what came is no call of a daemon"),
            OobFlaw::Protocol(theirs) => write!(f, "it speaks protocol {theirs}, and this mpirun protocol {PROTOCOL}"),
            OobFlaw::Proof => f.write_str("it does not know the secret of this job"),
        }
    }
}

#[cfg(test)]
mod tests;
