//! osc/sm: windows whose memory all their processes have mapped, on one node: by MPI_Win_allocate, MPI_Win_allocate_shared, and by
//! MPI_Win_create over memory of MPI_Alloc_mem ([`arena`]). A put or get is a copy, and the target never has to be inside MPI.
//!
//! The first process makes a file in memory without a name ([`file`]), which the others open through its /proc/PID/fd; when all have
//! it mapped nobody holds a descriptor, so nothing is left behind whatever ends the job. [`layout`] says where in it the words of
//! synchronisation and the parts of the window lie. Every accumulate of a window takes the target's accumulate lock, so that
//! all of them are atomic with each other; a passive lock is a ticket lock ([`locks`]).
//!
//! Owns the mapping. **Invariant:** no offset is read from shared memory.
#![no_std]

extern crate alloc;

mod access;
mod arena;
mod component;
mod file;
mod layout;
mod locks;
#[cfg(all(test, loom))]
mod models;
mod module;
mod params;
mod raw;
mod ticket;
mod wait;
mod words;

pub use component::{COMPONENT, INFO};

#[cfg(test)]
opal_core::test_image!();
