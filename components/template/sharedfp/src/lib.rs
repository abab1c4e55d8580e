//! sharedfp/template: a shared file pointer. Say here where the number lies.
//!
//! Owns nothing. components/sharedfp/sm is one that is finished.
#![no_std]

extern crate alloc;

mod component;
mod module;

pub use component::{COMPONENT, INFO};
