//! btl/tcp: sockets between nodes, one module per usable network interface.
//!
//! Owns a listening socket per interface address, one epoll descriptor, and one connection per peer and pair of
//! interfaces, which the first message makes. The states of a connection (`state`):
//!
//! ```text
//!      first message              connected            valid answer          welcome
//! Idle ------------> Connecting ----------> HelloSent ------------> ProofSent -------> Connected
//!                     ^   |  ^  |               |  |                 |  |  |               |
//!             refused |   |  |  | refused       |  | closed,         |  |  | yield         | error, end
//!      (pause is over)|   |  |  v               |  | host silent     |  |  v               v
//!                     +---|--Backoff <----------|--+-----------------+  | Yielded       Closed, and
//!                         |     | retries,      |                       |  |  |          the peer is lost
//!            other error, |     | deadline      | bad answer            |  |  | the peer's connection
//!                deadline v     v               v           bad verdict v  |  +----------> Connected
//!      FailedOver, or Closed with the peer lost if it has no other path    | deadline: a new attempt
//!                                                                          +----------> Connecting
//! ```
//!
//! `connect` takes the steps above. `Connecting` and `Backoff` share one deadline (btl_tcp_connect_timeout_s), and
//! Backoff's pauses grow from 10 ms to 1 s (btl_tcp_connect_retries). Each attempt of the last path to a process of the job has until
//! the deadline, one that has others beside it five retries; who closes the connection in the handshake has fifteen. In
//! `HelloSent` and `ProofSent` the peer may
//! compute for as long as it likes, so there the deadline is for its system, which must not be silent for so long, for half
//! a message, and for a peer that answers on another path: that is tried when the deadline has passed. A wrong answer or verdict may
//! have changed on the way between two hosts, and leads to `Backoff`, too, three times. After the same
//! time in `Yielded` this process tries again itself. In `Connected` the host of the peer may be silent for as long as
//! btl_tcp_silence_timeout_s.
//!
//! Between two hosts `Connected` leads back to `Connecting` where a socket breaks or a path acknowledges nothing for
//! btl_tcp_path_timeout_s (`resume`): the same stream goes on over another socket, by any path to the peer, and the peer is
//! lost only when none carries it on, or when whoever watches its process says that it has ended (`btl::has_ended`). `send_queue` keeps
//! what the peer has not acknowledged. A process that only waits to leave (`Transport::is_drained`) gives such a connection up when it
//! went unanswered for btl_tcp_silence_timeout_s.
//!
//! All connections to a peer begin once one of them is slow, so that those that were guessed wrong end together; one that nobody answers
//! is given up early if another one is in force. Where none can be made,
//! one of them goes from `Connecting` or the handshake to `Backoff` and tries other pairs of addresses (`search`, `candidate`), all
//! at once.
//!
//! `accept` takes the steps of the other side: a connection that a peer makes becomes `Connected` from any of the first
//! states, and from `FailedOver`: a path that is open from there alone. Messages go on to take the other one, for their order. Of two
//! connections that are made at the same time the one stays that the process with the lower index began; the
//! other process's becomes `Yielded` or is given up. `Failed` stands between an error in a system call and the next poll,
//! which sees to it.
//!
//! An incoming connection has twenty times btl_tcp_connect_timeout_s to prove that it belongs to the job. Until then it
//! is not counted as progress, messages about it are limited (`unauthenticated`), and too many of one source close none
//! of another, nor one of a process of the job whose hello is there. A process of the job that computes for longer
//! connects again, which costs it no retry
//! (`connect::note_absence`). One that has proved itself waits until the layer above adds the peer, or until it hangs up.
//!
//! Where the peer is on another node, or btl_tcp_protect says so, the stream of frames travels in records that are
//! authenticated or encrypted (`record`). The handshake derives their keys from both nonces and the job's secret. Both
//! ends must want the same protection.
//!
//! A process of another job is a peer, too, once both have met (`pair`). The two shake hands as a job of their own, and
//! who leaves says so before it closes the connection, so that nobody takes it for dead. A process whose own job needs no sockets listens
//! from when it shows itself to another job on (`lazy`).
//!
//! The two ends prove to each other that they belong to the same job (`handshake`). Invariants: bytes from the network
//! are checked before use and never make this process allocate more than a frame; what is not from a process of the job
//! closes its own connection and nothing else. Locks are taken in this order: the poller, then one connection's `Tx`,
//! then that of the connection to which it fails over.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod component;
mod failure;
mod lazy;
mod module;
mod poll;

mod send;

mod accept;
mod backoff;
mod connect;
mod resume;
mod search;

mod connection;
mod pair;
mod rx_table;
mod state;
mod table;
mod transport;

mod rx;
mod tx;
mod unauthenticated;

mod candidate;
mod failure_message;
mod frames;
mod handshake;
mod handshake_buffer;
mod interfaces;
mod meter;
mod pairing;
mod params;
mod path;
mod pvars;
mod raw;
mod record;
mod send_queue;
mod session;
mod socket;
mod wire;

pub use component::{COMPONENT, INFO};

#[cfg(test)]
mod tests;

#[cfg(test)]
opal_core::test_image!();
