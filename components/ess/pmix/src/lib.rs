//! ess/pmix: a rank that a process manager started which speaks PMIx, such as Slurm's `srun --mpi=pmix`, or the mpirun of Open MPI.
//!
//! Owns the process's connection to the manager, which libpmix makes. libpmix is opened when a manager's variables are there and
//! not before, so that a program runs without it elsewhere. Its structures are those of the PMIx standard, version 4; `header.c`
//! compares them with the installed header when a library is built. Invariant: what libpmix hands out is checked by its type.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod client;
mod component;
mod raw;
mod structures;
mod traces;

pub use component::{COMPONENT, INFO};

#[cfg(test)]
mod tests;
