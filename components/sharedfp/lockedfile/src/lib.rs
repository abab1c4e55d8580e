//! sharedfp/lockedfile: the shared file pointer is the content of a small file beside the file, changed under a lock. It serves
//! processes that share a file system and nothing else.
//!
//! Owns that file. It loses its name as soon as all processes have it open, so that nothing is left of it however they end. A file
//! system of the network would take it from them with its name; there the name stays until the file is closed.
#![no_std]

extern crate alloc;

mod component;
mod module;
mod raw;

pub use component::{COMPONENT, INFO};
