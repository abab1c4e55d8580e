//! shmem/memfd: each rank's inbox is a slice of the memory file that the launcher left.
//!
//! Owns the mappings it hands out, not the descriptor: ess keeps that open for the life of the process, because a peer's
//! inbox is mapped when it is first needed. A program may close descriptors it does not know and get the number again
//! for a file of its own, so every mapping is preceded by a check that the descriptor is still the same file.
//! Invariant: nothing outside this job's slices is ever mapped.
#![no_std]

mod component;
mod module;
mod raw;

pub use component::{COMPONENT, INFO};
