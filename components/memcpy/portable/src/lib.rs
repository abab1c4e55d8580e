//! memcpy/portable: copies as the compiler does.
//!
//! Owns nothing. Invariant: correct everywhere; it is the reference for the other components of its framework.
#![no_std]

mod component;
mod raw;

pub use component::{COMPONENT, INFO};
