//! Memory that somebody else may change: raw copies and single loads, never a reference to the bytes.
#![allow(unsafe_code)]

mod aliasing;
#[cfg(test)]
mod copied;
pub mod free_blocks;
mod streaming;
mod untrusted;
pub use aliasing::{copy_aliased_4k, is_aliased_4k};
pub use streaming::copy_streaming;
pub use untrusted::Untrusted;
