//! ess/static: a rank without an operating system. The boot line says which rank of the job it is.
//!
//! Owns nothing: the control part of the job's memory exists as long as the machine.
//! **Invariant:** nothing that the boot line says is used before the job's memory confirmed it.
#![no_std]

extern crate alloc;

mod component;
mod raw;
mod segment;

pub use component::{COMPONENT, INFO};
