//! One file per framework of MPI.

use opal_core::mca::Framework;

/// The frameworks of this layer.
pub static ALL: &[&Framework] = &[];
