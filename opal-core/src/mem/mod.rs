//! Memory that somebody else may change: raw copies and single loads, never a reference to the bytes.
#![allow(unsafe_code)]

mod foreign;
mod trailing;
pub use foreign::Foreign;
pub use trailing::{copy_trailing, is_trailing};
