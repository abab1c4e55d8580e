//! coll/self: collectives of a communicator with one process, which are copies or nothing.
//!
//! Owns nothing. Invariant: never sends a message.
#![no_std]

extern crate alloc;

mod component;
mod module;

pub use component::{COMPONENT, INFO};
