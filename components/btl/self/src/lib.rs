//! btl/self: messages of a process to itself.
//!
//! Owns a queue on the heap. Invariant: `poll` alone delivers a message, never the send, so that a sender may hold locks
//! that the handler of the message needs.
#![no_std]

extern crate alloc;

mod component;
mod module;
mod queue;
mod raw;

pub use component::{COMPONENT, INFO};
