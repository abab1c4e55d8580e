//! ess/pmi1: a rank that a process manager started which speaks PMI version 1, such as Hydra, the mpiexec of MPICH.
//!
//! Owns the connection to the manager, which it also asks for further jobs (`spawn.rs`). PMI-1 has no standard: requests and replies
//! are those in MPICH's lists of messages (its folder src/pmi/maint) and in Flux RFC 13. Invariant: a line of the manager is checked
//! word by word, and its length is bounded.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod client;
mod component;
mod connection;
mod raw;
mod spawn;
mod traces;
mod wire;

pub use component::{COMPONENT, INFO};

#[cfg(test)]
mod tests;
