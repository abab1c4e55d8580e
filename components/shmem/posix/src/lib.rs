//! shmem/posix: each rank's inbox is a file of its own in /dev/shm, where `shm_open` would put it, but without a name.
//!
//! Needs no launcher. Owns its file and the mappings it hands out; how they are found is told in
//! `opal_core::sys::TmpFile`. Unlike a sealed memory file, a file there may be shortened by its owner, and pages
//! come when they are touched: where many ranks fill a small /dev/shm, the system kills who touches one too many.
//! Invariant: nothing lies in /dev/shm under a name at any time.
#![no_std]

mod component;

pub use component::{COMPONENT, INFO};
