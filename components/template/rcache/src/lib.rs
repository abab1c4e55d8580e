//! rcache/template: which memory stays registered, and until when. Say here by what it is found.
//!
//! Owns nothing. components/rcache/grdma is one that is finished.
#![no_std]

extern crate alloc;

mod component;
mod module;

pub use component::{COMPONENT, INFO};
