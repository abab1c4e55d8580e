//! coll/sm: blocking collectives of the ranks of one node: short data through lines that all share, long data straight
//! between their buffers or in pieces through shared rings.
//!
//! For communicators whose processes reach each other through a transport with shared pool (`btl::Module::shared_pool`). The lines of
//! a communicator lie in the shared pool of its rank 0, which gives them away at the third call that would use them, and so do its
//! rings, at the first call that would use those; where it has no more room, other ways or the next component serve the call.
//! Invariant: nothing read from shared memory is an offset, and no length but how much of its target a block of MPI_Alltoallv
//! fills, which is checked; whether a call goes one way follows from values that are equal on all ranks and from words that all
//! have told.
#![no_std]

extern crate alloc;

mod autotune;
mod component;
mod direct;
mod flags;
mod large;
mod module;
mod p2p;
mod params;
mod pipeline;
mod pool_block;
mod raw;
mod select;

pub use component::{COMPONENT, INFO};

#[cfg(all(test, loom))]
mod models;
#[cfg(test)]
mod test_image;
