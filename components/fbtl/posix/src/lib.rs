//! fbtl/posix: preadv(2) and pwritev(2).
//!
//! Owns nothing.
#![no_std]

mod component;
mod module;

pub use component::{COMPONENT, INFO};
