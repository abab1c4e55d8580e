//! bml/r2: chooses the transports by which a process is reached.
//!
//! Owns the list of transports and one list of paths per process. **Invariant:** of the transports that reach a process only
//! those with the highest exclusivity are used for messages. The one with the lowest latency comes first. Memory of a process is reached by
//! the first transport that has put and get, which is connected when somebody asks.
#![no_std]

extern crate alloc;

mod component;
mod module;

pub use component::{COMPONENT, INFO};
