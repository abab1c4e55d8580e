//! reachable/template: which addresses of two machines reach each other. Say here how it knows.
//!
//! Say what it owns. Invariant: waits for nothing. components/reachable/netlink is one that is finished.
#![no_std]

mod component;
mod module;

pub use component::{COMPONENT, INFO};
