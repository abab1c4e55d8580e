//! shmem/file: each rank's inbox is a file of its own in a folder of choice, without a name.
//!
//! For nodes whose /dev/shm is missing or small. Needs no launcher. Owns its file and the mappings it hands out; how
//! they are found is told in `opal_core::sys::TmpFile`. Room on the device is set aside when the inbox is made; a
//! device that writes pages back makes it slower than memory.
//! Invariant: nothing lies in the folder under a name at any time.
#![no_std]

mod component;
mod params;

pub use component::{COMPONENT, INFO};
