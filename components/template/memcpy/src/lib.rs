//! memcpy/template: copies between buffers of one process. Say here by which instructions, and where that is faster.
//!
//! Owns nothing. Invariant: touches no byte outside of the two ranges. components/memcpy/avx2 is one that is finished.
#![no_std]

mod component;
mod raw;

pub use component::{COMPONENT, INFO};
