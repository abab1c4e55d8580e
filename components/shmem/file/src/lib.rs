//! shmem/file: the receive segment of each rank is a file without a name, in a folder of choice.
//!
//! For nodes whose /dev/shm is missing or small. Needs no launcher. Owns its file and the mappings that it hands out;
//! `opal_core::sys::TmpFile` says how peers find them. Space on the device is reserved when the segment is made. A device that
//! writes pages back makes the segment slower than memory.
//! **Invariant:** the folder never holds a name of such a file.
#![no_std]

mod component;
mod params;

pub use component::{COMPONENT, INFO};
