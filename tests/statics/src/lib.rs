//! Conformance of the static frameworks.
//!
//! A program has one component of a static framework, whose functions are symbols. So each suite is a function over
//! the component's own functions and runs for every component in one test program, which takes in the source
//! file of the functions alone (two crates that define one symbol do not link).

pub mod atomics;
pub mod memcpy;
pub mod memory;
pub mod shmem;
pub mod timer;
