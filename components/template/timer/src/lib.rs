//! timer/template: a clock that never goes back. Say here what is read.
//!
//! Owns nothing. Invariant: the same time on all cores. components/timer/tsc is one that is finished.
#![no_std]

mod component;

pub use component::{COMPONENT, INFO};
