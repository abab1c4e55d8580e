//! ess/static: a rank without an operating system, whose place in the job stands on the boot line.
//!
//! Owns nothing: the control part of the job's memory is there as long as the machine. Invariant: nothing that the boot
//! line says is believed before the job's memory confirmed it.
#![no_std]

extern crate alloc;

mod boot_line;
mod component;
mod raw;
mod segment;

pub use component::{COMPONENT, INFO};
