//! memory/none: nobody watches the program's memory.
//!
//! Owns nothing. Invariant: says so, so that no registration outlives its operation.
#![no_std]

mod component;

pub use component::{COMPONENT, INFO};
