//! ess/singleton: a process that no launcher started, rank 0 of 1.
//!
//! Owns a copy of what it published. **Invariant:** it declines where a launcher left its variables. Several processes that
//! each take themselves for the only one would compute wrong results without a message.
#![no_std]

extern crate alloc;

mod component;
mod module;

pub use component::{COMPONENT, INFO};
