//! sharedfp/sm: the shared file pointer is a word of memory, in the shared pool of rank 0 (`ompi_core::shared_pool`), that all
//! processes of the file have mapped; of a file with one process a word of its own.
//!
//! Owns that word while the file is open.
#![no_std]

extern crate alloc;

mod component;
mod module;

pub use component::{COMPONENT, INFO};
