//! fbtl/template: moves bytes between memory and a file. Say here by which calls.
//!
//! Owns nothing. components/fbtl/posix is one that is finished.
#![no_std]

mod component;
mod module;

pub use component::{COMPONENT, INFO};
