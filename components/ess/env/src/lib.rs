//! ess/env: a rank that this project's mpirun started.
//!
//! Owns the mapping of the job segment's control part, and keeps the inherited descriptor open, close-on-exec, for the
//! life of the process, because inboxes are mapped when they are first needed. Invariant: nothing that the environment
//! says is believed before the segment confirmed it.
#![no_std]

extern crate alloc;

mod component;
mod segment;

pub use component::{COMPONENT, INFO};
