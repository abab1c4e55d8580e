//! Memory that somebody else may change: raw copies and single loads, never a reference to the bytes.
#![allow(unsafe_code)]

mod aliasing;
#[cfg(test)]
mod copied;
mod crc32c;
pub mod free_blocks;
mod moves;
mod streaming;
mod untrusted;
mod zeroed;
pub use aliasing::{copy_aliased_4k, is_aliased_4k};
pub use crc32c::{Crc32c, crc32c};
pub use moves::{copy_small, copy_string};
pub use streaming::copy_streaming;
pub use untrusted::Untrusted;
pub use zeroed::{Zeroed, zeroed};
