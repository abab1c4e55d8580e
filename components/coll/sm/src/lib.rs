//! coll/sm: blocking collectives of the ranks of one node, for communicators whose processes reach each other through a
//! transport with a shared pool (`btl::Module::shared_pool`).
//!
//! `module` gives a call to `small` or `large`; `select` says which algorithm serves it:
//!
//! | algorithm | where | data |
//! |---|---|---|
//! | message | `p2p` | one message, or one each way, of two ranks |
//! | flags | `flags` | short: through flags, counters and slots of a shared segment |
//! | pipeline | `pipeline` | longer: in pieces through shared rings |
//! | direct | `direct` | longer: copied once between the ranks' buffers |
//! | measured | `autotune` | the better one of the last two |
//!
//! Owns a segment and rings for each communicator, which lie in the shared pool of its rank 0 (`pool_block`). Rank 0 allocates
//! the segment at the third call that would use it, the rings at the first call that would use those; where its pool has no
//! room, another algorithm or the next component serves the call. Why memory may be written again:
//! docs/architecture/collectives-in-shared-memory.md.
//!
//! Invariant: no offset is read from shared memory, and no length but that of a block of MPI_Alltoallv, which is checked
//! against its target. Which algorithm serves a call follows from values that are equal on all ranks, and from words that all
//! ranks have exchanged.
#![no_std]

extern crate alloc;

mod algorithm;
mod autotune;
mod buffer;
mod component;
mod direct;
mod flags;
mod large;
mod module;
mod operand;
mod p2p;
mod params;
mod peer;
mod pipeline;
mod pool_block;
mod raw;
mod select;
mod small;
mod subject;
mod word;

pub use component::{COMPONENT, INFO};

#[cfg(all(test, loom))]
mod models;

#[cfg(test)]
opal_core::test_image!();
