//! osc/sm: windows whose memory all their processes have mapped, on one node: by MPI_Win_allocate, MPI_Win_allocate_shared, and by
//! MPI_Win_create over memory of MPI_Alloc_mem ([`arena`]). A put or get is a copy, and the target never has to be inside MPI.
//!
//! Everything but the memory of the parts is [`ompi_core::win::node`]: words of synchronisation in memory that all processes have mapped.
//! The parts of a window whose memory MPI makes lie behind the words.
//!
//! Owns the mappings. **Invariant:** no offset is read from shared memory.
#![no_std]

extern crate alloc;

mod arena;
mod component;
mod params;
mod raw;

pub use component::{COMPONENT, INFO};

#[cfg(test)]
opal_core::test_image!();
