//! ess/singleton: a process that nobody launched, rank 0 of 1.
//!
//! Owns a copy of what it published. Invariant: never runs where a launcher left its traces, since several processes
//! that each believe to be alone would give wrong results without a word.
#![no_std]

extern crate alloc;

mod component;
mod module;

pub use component::{COMPONENT, INFO};
