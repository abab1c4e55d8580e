//! memcpy/portable: copies as the compiler does, but where string moves stumble (`opal_core::mem::is_aliased_4k`).
//!
//! In a hosted program that is the C library's memcpy, which picks its code by processor. The default: memcpy/avx2 and
//! memcpy/avx512 are 1 to 2 ns faster up to 256 bytes, about equal above (AVX2 up to 1.5 ns slower from 512 bytes to
//! 2 KiB), and run on fewer processors (`cargo run --release -p bench-statics`).
//!
//! Owns nothing. Invariant: correct everywhere; it is the reference for the other components of its framework.
#![no_std]

mod component;
mod raw;

pub use component::{COMPONENT, INFO};
