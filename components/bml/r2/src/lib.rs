//! bml/r2: chooses among transports by what reaches whom.
//!
//! Owns the list of transports and one list of paths per process. Invariant: of the transports that reach a process only
//! those with the highest exclusivity are used, the one with the lowest latency first.
#![no_std]

extern crate alloc;

mod component;
mod module;

pub use component::{COMPONENT, INFO};
