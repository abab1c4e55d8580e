//! One file per framework: its whole interface. `ls` here lists what a component of layer 1 can be.

pub mod atomics;
pub mod btl;
pub mod memcpy;
pub mod memory;
pub mod shmem;
pub mod timer;

use crate::mca::Framework;

/// The frameworks of this layer.
pub static ALL: &[&Framework] = &[
    &atomics::FRAMEWORK,
    &btl::FRAMEWORK,
    &memcpy::FRAMEWORK,
    &memory::FRAMEWORK,
    &shmem::FRAMEWORK,
    &timer::FRAMEWORK,
];
