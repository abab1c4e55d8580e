//! ess/pmi1: a rank that a process manager started which speaks PMI version 1, such as Hydra, the mpiexec of MPICH.
//!
//! Owns the connection to the manager. There is no standard of PMI-1: requests and replies are those that MPICH's lists of
//! messages name (its folder src/pmi/maint) and Flux RFC 13 describes. Invariant: a line of the manager is checked word by
//! word, and no more is kept of it than it may have.
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
