//! btl/template: a transport. Say here what it moves messages over, in one sentence.
//!
//! Say what memory, device or descriptors it owns, and the invariant that makes it right. components/btl/self is the
//! smallest that is finished, components/btl/sm one over memory, components/btl/tcp one over the system's sockets.
#![no_std]

extern crate alloc;

mod component;
mod module;
mod poll;
mod send;
mod wire;

pub use component::{COMPONENT, INFO};
