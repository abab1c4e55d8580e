//! netif/template: network cards. Say here which, and the manual by which they are driven.
//!
//! Say what it owns, and which descriptors and buffers are the card's when. components/netif/e1000e is one that is finished.
#![no_std]

extern crate alloc;

mod component;
mod module;

pub use component::{COMPONENT, INFO};
