//! shmem/ivshmem: on bare metal the receive segment of each rank is a slice of the memory that all guests of a host share.
//!
//! Owns nothing: the memory of the device exists as long as the machine. Slices and addresses are those of shmem/memfd,
//! because it is the same memory. Hosted ranks of the job map the file behind the device, and btl/sm finds the same segments
//! on both sides. **Invariant:** nothing outside this job's slices is ever handed out.
#![no_std]

mod component;
mod module;

pub use component::{COMPONENT, INFO};
