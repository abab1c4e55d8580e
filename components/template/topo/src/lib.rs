//! topo/template: which process gets which rank of a communicator with a topology. Say here by which method, with its source.
//!
//! Owns nothing. components/topo/treematch is one that is finished.
#![no_std]

extern crate alloc;

mod component;

pub use component::{COMPONENT, INFO};
