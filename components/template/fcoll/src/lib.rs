//! fcoll/template: collective access to files. Say here by which method, with its source.
//!
//! Owns nothing. components/fcoll/individual is one that is finished.
#![no_std]

mod component;
mod module;

pub use component::{COMPONENT, INFO};
