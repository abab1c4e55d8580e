//! ess/pmi2: a rank that a process manager started which speaks PMI version 2, such as Slurm's `srun --mpi=pmi2`.
//!
//! Owns the connection to the manager. PMI-2 has no standard: requests and replies are those of MPICH's folder src/pmi and of
//! Slurm's plugin mpi/pmi2. Invariant: a packet of the manager is checked word by word, and its length is bounded.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod client;
mod component;
mod connection;
mod raw;
mod traces;
mod wire;

pub use component::{COMPONENT, INFO};

#[cfg(test)]
mod tests;
