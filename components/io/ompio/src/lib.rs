//! io/ompio: MPI-IO of this library, made of the frameworks fs (files as a whole), fbtl (bytes), fcoll (collective access)
//! and sharedfp (the shared file pointer).
//!
//! Owns, for each open file, a descriptor, the view in force and this process's file pointer. Invariant: a file pointer counts
//! etypes of the view in force.
#![no_std]

extern crate alloc;

mod access;
mod component;
mod file;
mod module;

pub use component::{COMPONENT, INFO};
