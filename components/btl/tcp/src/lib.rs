//! btl/tcp: sockets between nodes, one module per usable network interface.
//!
//! Owns a listening socket per interface address, one epoll descriptor and one connection per peer and pair of
//! interfaces, made when the first message needs it. Connections prove to each other that they belong to the same job
//! (`handshake`); of two that are made at the same time the one that the process with the lower index began stays.
//! Invariants: bytes from the network are checked before use and never make this process allocate more than a frame;
//! what is not from a process of the job closes its own connection and nothing else. Locks are taken in the order
//! receiving, whatever receivers hold, one connection's outbound, that of its detour. A connection that cannot be made is
//! replaced by another one to the same peer; one that breaks after it was in force ends the peer.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod accept;
mod attempt;
mod component;
mod frames;
mod handshake;
mod inbound;
mod interfaces;
mod module;
mod net;
mod outbound;
mod pairing;
mod params;
mod poll;
mod raw;
mod socket;
mod wire;

pub use component::{COMPONENT, INFO};

#[cfg(test)]
mod test_image;
#[cfg(test)]
mod tests;
