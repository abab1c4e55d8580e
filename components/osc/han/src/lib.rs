//! osc/han: windows of MPI_Win_allocate whose processes are on several nodes. Each process's memory is shareable, and all of its
//! node have it mapped, so a put or get within the node is a copy; everything else is another component's, which makes
//! its window over this memory as over that of MPI_Win_create.
//!
//! Accumulates within the node are that component's, too: the target does them, one after the other, so that they are atomic with those of
//! other nodes. A lock of a target that was asked for and perhaps not granted yet keeps short accesses with that component, where
//! they travel with the lock ([`grants`]).
//!
//! Owns the mapping. **Invariant:** no offset is read from shared memory.
#![no_std]

extern crate alloc;

mod component;
mod grants;
mod module;
mod raw;

pub use component::{COMPONENT, INFO};

#[cfg(test)]
opal_core::test_image!();
