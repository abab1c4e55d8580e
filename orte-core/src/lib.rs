//! Layer 2: a job of processes: names, wire-up, launch.
//!
//! **Invariant:** `no_std` + `alloc`; knows processes and nodes, nothing of MPI.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod allocation;
#[cfg(not(ompi_bare))]
pub mod direct;
pub mod environment;
pub mod framework;
pub mod gpr;
pub mod segment;
