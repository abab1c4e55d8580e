//! op/template: kernels of the predefined reduction operations. Say here by which instructions.
//!
//! Owns nothing. Invariant: every result has the bits of op/scalar's. components/op/avx2 is one that is finished.
#![no_std]

mod component;
mod raw;

pub use component::{COMPONENT, INFO};
