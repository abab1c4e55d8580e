//! One file per framework of MPI.

pub mod bml;
pub mod coll;
pub mod fbtl;
pub mod fcoll;
pub mod fs;
pub mod io;
pub mod op;
pub mod osc;
pub mod part;
pub mod pml;
pub mod sharedfp;
pub mod topo;

use opal_core::mca::Framework;

/// The frameworks of this layer.
pub static ALL: &[&Framework] = &[
    &bml::FRAMEWORK,
    &coll::FRAMEWORK,
    &fbtl::FRAMEWORK,
    &fcoll::FRAMEWORK,
    &fs::FRAMEWORK,
    &io::FRAMEWORK,
    &op::FRAMEWORK,
    &osc::FRAMEWORK,
    &part::FRAMEWORK,
    &pml::FRAMEWORK,
    &sharedfp::FRAMEWORK,
    &topo::FRAMEWORK,
];
