//! bml/r2: chooses the transports by which a process is reached.
//!
//! Owns the list of transports and one list of paths per process. **Invariant:** of the transports that reach a process only
//! those with the highest exclusivity are used. The one with the lowest latency comes first.
#![no_std]

extern crate alloc;

mod component;
mod module;

pub use component::{COMPONENT, INFO};
