//! fcoll/dynamic: collective access in parts of the file that have as much data each, for pieces that do not lie evenly.
//!
//! The name and the aim are those of Open MPI's component (Chaarawi, Gabriel 2011, doi:10.1109/CLUSTER.2011.79): equal parts of the
//! file, as fcoll/two_phase makes them, leave most of the work to few processes where the data lies in few places. Here the parts are
//! cut by how much lies before each place, which the processes find together: each counts its own bytes below some places of the
//! file, the sums say between which of them a cut has to be, and the next places are asked for there. `ompi_core::file::gather` does
//! the rest.
//!
//! Owns nothing.
//!
//! **Invariant:** whether an access goes this way follows from words that all processes have announced, and so do its parts.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod component;
mod cuts;
mod module;
mod params;
mod plan;

pub use component::{COMPONENT, INFO};

#[cfg(test)]
opal_core::test_image!();
