//! Layer 2, a job of processes: what a launcher and its ranks say to each other.
//!
//! `segment` is the memory that they share, `environment` the variables of a rank, `framework` the interfaces (ess: who am I).
//! `direct` is what ranks have in common that the process manager of another project started. `allocation` reads which hosts a
//! resource manager gave. `gpr` is the registry for jobs of several nodes, `modex` their wire-up.
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
pub mod modex;
#[cfg(not(ompi_bare))]
pub mod oob;
pub mod rmaps;
pub mod segment;
