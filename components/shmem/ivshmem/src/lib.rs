//! shmem/ivshmem: on bare metal each rank's inbox is a slice of the memory that all guests of a host share.
//!
//! Owns nothing: the device's memory is there as long as the machine. The slices and their addresses are those of
//! shmem/memfd, because it is the same memory: hosted ranks of the job map the file that the device shows, and btl/sm on
//! both sides finds the same inboxes. Invariant: nothing outside this job's slices is ever handed out.
#![no_std]

mod component;
mod module;

pub use component::{COMPONENT, INFO};
