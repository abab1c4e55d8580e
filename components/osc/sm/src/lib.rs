//! osc/sm: windows whose memory all their processes have mapped, on one node: by MPI_Win_allocate, MPI_Win_allocate_shared, and by
//! MPI_Win_create over shareable memory ([`opal_core::shareable`]), which is that of MPI_Alloc_mem. A put or get is a copy, and the target never has to be inside MPI.
//!
//! Everything but the memory of the parts is [`ompi_core::win::node`]: words of synchronisation in memory that all processes have mapped.
//! The parts of a window whose memory MPI makes are shareable memory of each process's own; those of MPI_Win_allocate_shared that must lie one
//! behind the other lie behind the words, and so do all where some process has no shareable memory. Messages from and to either are copied once.
//!
//! Owns the mappings. **Invariant:** no offset is read from shared memory.
#![no_std]

extern crate alloc;

mod component;
mod raw;

pub use component::{COMPONENT, INFO};

#[cfg(test)]
opal_core::test_image!();
