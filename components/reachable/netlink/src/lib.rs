//! reachable/netlink: ways by the system's table of routes, which rtnetlink(7) reads: by which interface packets to an address
//! leave, and whether through a router.
//!
//! Owns a socket of family netlink. Invariant: asks and never changes anything; waits for nothing.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod component;
mod module;
mod wire;

pub use component::{COMPONENT, INFO};

#[cfg(test)]
opal_core::test_image!();
