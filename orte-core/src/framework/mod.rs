//! One file per framework of layer 2.

pub mod ess;
pub mod iof;
pub mod oob;
pub mod plm;

use opal_core::mca::Framework;

/// The frameworks of this layer.
pub static ALL: &[&Framework] = &[&ess::FRAMEWORK, &iof::FRAMEWORK, &oob::FRAMEWORK, &plm::FRAMEWORK];
