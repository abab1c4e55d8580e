//! io/template: MPI-IO as a whole. Say here what it is made of.
//!
//! Owns nothing. components/io/ompio is one that is finished.
#![no_std]

extern crate alloc;

mod component;

pub use component::{COMPONENT, INFO};
