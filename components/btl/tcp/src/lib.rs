//! btl/tcp: sockets between nodes, one module per usable network interface.
//!
//! Owns a listening socket per interface address, one epoll descriptor, and one connection per peer and pair of
//! interfaces, which the first message makes. The states of a connection (`state`):
//!
//! ```text
//!                 first message                connected             valid answer             welcome
//!          Idle ---------------> Connecting ------------> HelloSent ------------> ProofSent ------------> Connected
//!                                  ^    |                     |                    |     |                    |
//!                                  |    |       closed        |       closed       |     | yield              | error,
//!                                  +----|---------------------+--------------------+     v                    | end
//!                                       |            retry    |                    |  Yielded                 |
//!                        error, timeout |         bad answer  |        bad verdict |     | the peer's         v
//!                                       +---------------------+--------------------+     | connection       Closed,
//!                                       v                                                v                  the peer
//!                   FailedOver, or Closed if the peer has no other connection        Connected              is lost
//! ```
//!
//! `connect` takes the steps above, `accept` those of the other side: a connection that a peer makes becomes `Connected` from
//! any of the first states. Of two connections that are made at the same time the one stays that the process with the
//! lower index began; the other process's becomes `Yielded` or is given up. `Failed` stands between an error in a send and
//! the next poll, which sees to it.
//!
//! The two ends prove to each other that they belong to the same job (`handshake`). Invariants: bytes from the network are
//! checked before use and never make this process allocate more than a frame; what is not from a process of the job closes
//! its own connection and nothing else. Locks are taken in this order: the poller, then one connection's `Tx`, then that of the
//! connection to which it fails over.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod component;
mod module;
mod poll;

mod send;

mod accept;
mod connect;

mod connection;
mod rx_table;
mod state;
mod transport;

mod rx;
mod tx;

mod frames;
mod handshake;
mod handshake_buffer;
mod interfaces;
mod pairing;
mod params;
mod raw;
mod socket;
mod wire;

pub use component::{COMPONENT, INFO};

#[cfg(test)]
mod test_image;
#[cfg(test)]
mod tests;
