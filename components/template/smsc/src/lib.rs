//! smsc/template: single copy between two processes of a node. Say here what does the copy.
//!
//! Say what it owns. Invariant: in this process only the caller's range is read or written. components/smsc/cma is one that is
//! finished.
#![no_std]

extern crate alloc;

mod component;
mod module;

pub use component::{COMPONENT, INFO};
