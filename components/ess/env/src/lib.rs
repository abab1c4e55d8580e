//! ess/env: a rank that this project's mpirun started.
//!
//! Owns the mapping of the control part of the job segment. Keeps the inherited descriptor open, close-on-exec, for the life
//! of the process, because a receive segment is mapped when it is first needed.
//! In a job over several nodes also three descriptors that lead to the other nodes (`orte_core::modex`).
//! **Invariant:** nothing that the environment says is used before the segment confirmed it.
#![no_std]

extern crate alloc;

mod component;
mod segment;

pub use component::{COMPONENT, INFO};
