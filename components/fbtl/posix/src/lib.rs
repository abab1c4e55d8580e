//! fbtl/posix: pread(2), pwrite(2), preadv(2) and pwritev(2).
//!
//! Owns nothing.
#![no_std]

mod component;
mod module;

pub use component::{COMPONENT, INFO};
