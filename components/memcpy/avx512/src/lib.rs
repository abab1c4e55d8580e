//! memcpy/avx512: 64-byte vector registers, only the upper sixteen of them; `rep movsb` from a few kibibytes on.
//!
//! Owns nothing. Invariant: touches zmm16–31 only. Unlike zmm0–15, they do not put the processor into the state in
//! which every older vector instruction of the program becomes slow until a `vzeroupper`. Refuses at `open` where
//! AVX-512F is missing; before `open` nothing of the library copies through it.
#![no_std]

mod component;
mod raw;

pub use component::{COMPONENT, INFO};
