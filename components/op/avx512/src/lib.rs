//! op/avx512: the predefined reduction operations on integers, single and double precision and complex numbers by 64-byte
//! vectors: the loop of framework op as the compiler makes it for AVX-512.
//!
//! Owns nothing. Invariant: every result has the bits of op/scalar's (but for which NaN it is).
#![no_std]

mod component;
mod raw;

pub use component::{COMPONENT, INFO};
