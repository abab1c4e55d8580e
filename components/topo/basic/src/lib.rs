//! topo/basic: every process keeps its rank, whatever `reorder` allows.
//!
//! Owns nothing.
#![no_std]

extern crate alloc;

mod component;

pub use component::{COMPONENT, INFO};
