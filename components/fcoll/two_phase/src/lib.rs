//! fcoll/two_phase: collective access in two phases, for small pieces of several processes that interleave in the file.
//!
//! The bytes between the first and the last place of the access are divided into *domains* of one length, one for each process, and
//! each domain into windows. `ompi_core::file::gather` does the rest.
//!
//! Owns nothing.
//!
//! **Invariant:** whether an access goes in two phases follows from words that all processes have announced.
#![no_std]

#[cfg(test)]
extern crate std;

mod component;
mod module;
mod params;
mod plan;

pub use component::{COMPONENT, INFO};

#[cfg(test)]
opal_core::test_image!();
