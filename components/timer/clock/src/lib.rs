//! timer/clock: the system's monotonic clock in nanoseconds.
//!
//! Owns nothing. Invariant: the same time on all cores and for all processes of a node.
#![no_std]

mod component;

pub use component::{COMPONENT, INFO};
