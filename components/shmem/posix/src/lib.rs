//! shmem/posix: the receive segment of each rank is a file without a name in /dev/shm, where `shm_open` would put it.
//!
//! Needs no launcher. Owns its file and the mappings that it hands out; `opal_core::sys::TmpFile` says how peers find them. The
//! owner of such a file may shorten it, which a sealed memory file forbids. Pages come when they are touched: where many ranks
//! fill a small /dev/shm, the system kills the one that touches a page too many.
//! **Invariant:** /dev/shm never holds a name of such a file.
#![no_std]

mod component;

pub use component::{COMPONENT, INFO};
