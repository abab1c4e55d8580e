//! memcpy/avx2: 32-byte vector registers, and `rep movsb` from a few kibibytes on.
//!
//! Owns nothing. Invariant: the upper halves of the vector registers are clean when it returns, and it refuses at
//! `open` where AVX2 is missing. Before `open` nothing of the library copies through it.
#![no_std]

mod component;
mod raw;

pub use component::{COMPONENT, INFO};
