//! ess/template: which rank of the job this process is, and where the others are. Say here which launcher leaves the
//! answer, and where.
//!
//! Say what it owns. Invariant: never runs where its launcher left no traces. components/ess/env is one that is finished.
#![no_std]

extern crate alloc;

mod component;
mod module;

pub use component::{COMPONENT, INFO};
