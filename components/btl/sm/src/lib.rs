//! btl/sm: shared memory on one node.
//!
//! Each process owns an inbox segment (`framework/shmem`) with one queue of cache lines per other rank of the node
//! (`opal_core::queue::fifo`); a sender writes straight into the receiver's inbox. Invariant: nothing that a peer writes
//! makes this process touch memory outside the queues; a peer that breaks the format is closed.
#![no_std]

extern crate alloc;

mod component;
mod inbox;
mod module;
mod params;
mod poll;
mod raw;
mod send;
mod wire;

pub use component::{COMPONENT, INFO};

#[cfg(all(test, loom))]
mod models;
#[cfg(test)]
mod test_image;
