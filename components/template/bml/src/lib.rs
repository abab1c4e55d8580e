//! bml/template: which transports reach which process. Say here by what it chooses.
//!
//! Owns the list of transports and one list of paths per process. components/bml/r2 is one that is finished.
#![no_std]

extern crate alloc;

mod component;
mod module;

pub use component::{COMPONENT, INFO};
