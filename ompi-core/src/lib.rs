//! Layer 3: MPI.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod framework;
