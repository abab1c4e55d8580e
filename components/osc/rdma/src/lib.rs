//! osc/rdma: windows over a transport that reaches memory of its peers by itself ([`opal_core::framework::btl::RemoteCaps`]): put, get and
//! atomic operations of a fabric. A put is a put; no message goes to the target, which need not be inside MPI where the transport says so.
//!
//! Each process registers its memory and a block of words once, and all tell each other address and keys (`wire.rs`). Passive locks
//! (`locks.rs`), posts and completes are atomic operations on the words of the process that they concern. An accumulate takes the target's
//! accumulate lock, one of the words, then reads, combines and writes: so all accumulates of a window are atomic with each other. Because
//! processors and fabric need not be, a process reaches its own words by the fabric, too.
//!
//! Owns its words, and the memory of MPI_Win_allocate. **Invariant:** the origin checks that an access lies in what the target has told;
//! memory that an operation uses is kept until the operation is complete.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod component;
mod locks;
mod module;
mod operation;
mod peer;
mod peer_word;
mod raw;
mod wire;
mod words;

pub use component::{COMPONENT, INFO};

#[cfg(test)]
opal_core::test_image!();
