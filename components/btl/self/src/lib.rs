//! btl/self: messages of a process to itself.
//!
//! Owns a queue on the heap. Invariant: a message is handed out by `poll` only, never inside the send, so that a sender
//! may hold whatever the receiver needs.
#![no_std]

extern crate alloc;

mod component;
mod module;
mod raw;

pub use component::{COMPONENT, INFO};
