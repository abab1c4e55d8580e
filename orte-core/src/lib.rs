//! Layer 2, a job of processes: what a launcher and its ranks say to each other.
//!
//! `segment` is the memory that they share, `environment` the variables of a rank, `framework` the interfaces (ess: the rank
//! of this process). `direct` is the common part of ranks that the process manager of another project started (Hydra, Slurm).
//!
//! For jobs of several nodes: `allocation` reads which hosts a resource manager gave, `rmaps` maps ranks to hosts, `oob` is what mpirun
//! and the daemons of other hosts say, `routed` the tree along which they say it, `gpr` the registry of what processes know of each other, `modex` the exchange of addresses.
//!
//! For processes of different jobs: `port` is where they meet, `universe` what they ask mpirun for, `companion` the mpirun of a process
//! that nobody launched.
//!
//! **Invariant:** `no_std` + `alloc`; knows processes and nodes, nothing of MPI.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod allocation;
pub mod boot_line;
#[cfg(not(ompi_bare))]
pub mod companion;
#[cfg(not(ompi_bare))]
pub mod direct;
pub mod environment;
pub mod framework;
pub mod gpr;
pub mod job;
pub mod modex;
#[cfg(not(ompi_bare))]
pub mod oob;
#[cfg(not(ompi_bare))]
pub mod port;
pub mod rmaps;
#[cfg(not(ompi_bare))]
pub mod routed;
pub mod segment;
#[cfg(not(ompi_bare))]
pub mod universe;
