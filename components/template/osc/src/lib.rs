//! osc/template: one-sided communication. Say here for which windows, by which means, with their source.
//!
//! Owns the memory of windows that it makes. Invariants: nothing outside a window's memory is touched; accumulates to one element
//! are atomic, and those of one process are done in their order. components/osc/am is one that is finished.
#![no_std]

extern crate alloc;

mod component;
mod module;

pub use component::{COMPONENT, INFO};
