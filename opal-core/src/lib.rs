//! Layer 1: one process.
//!
//! Nothing here knows of jobs or of MPI. `mca` is the component architecture, `framework` holds one file per
//! framework, `datatype` describes and moves data, `queue`, `mem` and `sys` are the ground they stand on.
//!
//! **Invariant:** `no_std` + `alloc`; hosted or bare is the cfg `ompi_bare`, never `target_os`.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod mca;

pub mod framework;

pub mod datatype;

pub mod autotune;
pub mod branch;
pub mod error;
pub mod inspect;
pub mod log;
pub mod mem;
pub mod progress;
pub mod queue;
pub mod random;
#[cfg(not(ompi_bare))]
pub mod shareable;
pub mod sort;
pub mod sparse;
#[cfg(not(ompi_bare))]
pub mod stack;
pub mod sync;
pub mod sys;
pub mod wait;

pub use error::{Error, Result};

#[cfg(test)]
mod test_image;
