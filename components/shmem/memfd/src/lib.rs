//! shmem/memfd: the receive segment of each rank is a slice of the memory file that the launcher left.
//!
//! Owns the mappings that it hands out, not the descriptor: ess keeps that open for the life of the process, because the
//! segment of a peer is mapped when it is first needed. A program may close descriptors that it does not know, and get the
//! number again for a file of its own. So each mapping checks first that the descriptor is still the same file.
//! **Invariant:** nothing outside this job's slices is ever mapped.
#![no_std]

mod component;
mod module;
mod raw;

pub use component::{COMPONENT, INFO};
