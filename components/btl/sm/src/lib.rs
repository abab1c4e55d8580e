//! btl/sm: shared memory on one node.
//!
//! Each rank owns a receive segment (`framework/shmem`). It holds one queue of cache lines per other rank of the node
//! (`opal_core::queue::fifo`). A sender writes straight into the receiver's segment.
//!
//! From the bottom up: `wire` says where things lie in a segment, `raw` reaches them, `rx_segment` is a segment,
//! `endpoint` a peer and the send path, `node` all peers, `rx` the receive path, `module` the framework's calls.
//!
//! **Invariant:** nothing that a peer writes makes this process touch memory outside the queues. A peer that breaks the
//! format is closed.
#![no_std]

extern crate alloc;

mod component;
mod endpoint;
mod module;
mod node;
mod params;
mod pvars;
mod raw;
mod rx;
mod rx_segment;
mod wire;

pub use component::{COMPONENT, INFO};

#[cfg(all(test, loom))]
mod models;

#[cfg(test)]
opal_core::test_image!();
