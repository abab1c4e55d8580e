//! ess/singleton: a process that no launcher started, rank 0 of 1.
//!
//! Owns a copy of what it published, and the connection to the mpirun that it starts when it asks for further jobs or names.
//! **Invariant:** it declines where a launcher left its variables. Several processes that
//! each take themselves for the only one would compute wrong results without a message.
#![no_std]

extern crate alloc;

mod component;
mod module;
mod params;

pub use component::{COMPONENT, INFO};
