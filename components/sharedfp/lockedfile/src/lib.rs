//! sharedfp/lockedfile: the shared file pointer is the content of a small file beside the file, changed under a lock. It serves
//! processes that share a file system and nothing else.
//!
//! Owns that file, which is made when the pointer is first used and goes when the file is closed.
#![no_std]

extern crate alloc;

mod component;
mod module;
mod raw;

pub use component::{COMPONENT, INFO};
