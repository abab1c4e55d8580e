//! Memory that somebody else may change: raw copies and single loads, never a reference to the bytes.
#![allow(unsafe_code)]

#[cfg(test)]
mod copied;
mod foreign;
mod streaming;
mod trailing;
pub use foreign::Foreign;
pub use streaming::copy_streaming;
pub use trailing::{copy_trailing, is_trailing};
