//! Memory that somebody else may change: raw copies and single loads, never a reference to the bytes.
#![allow(unsafe_code)]

mod foreign;
pub use foreign::Foreign;
