//! fcoll/individual: a collective access is one of each process for itself. No process waits for another.
//!
//! Owns nothing.
#![no_std]

mod component;
mod module;

pub use component::{COMPONENT, INFO};
