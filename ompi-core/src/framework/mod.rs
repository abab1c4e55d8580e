//! One file per framework of MPI.

pub mod bml;
pub mod coll;
pub mod op;
pub mod osc;
pub mod pml;
pub mod topo;

use opal_core::mca::Framework;

/// The frameworks of this layer.
pub static ALL: &[&Framework] =
    &[&bml::FRAMEWORK, &coll::FRAMEWORK, &op::FRAMEWORK, &osc::FRAMEWORK, &pml::FRAMEWORK, &topo::FRAMEWORK];
