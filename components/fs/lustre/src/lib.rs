//! fs/lustre: files of a Lustre file system. A file that is made is laid over its devices as the hints striping_factor, striping_unit and
//! start_iodevice say; everything else is done as for any file of the system.
//!
//! It asks the file system itself, by the call behind `lfs setstripe`, and needs no library of Lustre's. What Lustre refuses is said at
//! verbosity 1, and the file is laid out as its folder says.
//!
//! Owns nothing. **Invariant:** a file that is there keeps its stripes.
#![no_std]

extern crate alloc;

mod component;
mod module;
mod raw;
mod wire;

pub use component::{COMPONENT, INFO};

#[cfg(test)]
opal_core::test_image!();
