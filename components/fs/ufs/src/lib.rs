//! fs/ufs: files of the system, whatever file system of its own holds them (tmpfs, ext4, xfs).
//!
//! Owns nothing.
#![no_std]

mod component;
mod module;

pub use component::{COMPONENT, INFO};
