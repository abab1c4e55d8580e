//! Performance variables: how many faults were made.

use crate::module::CORRUPTED;
use opal_core::mca::Pvar;
use opal_core::mca::pvar::{PvarClass, Reading};

/// All of them.
pub static ALL: &[&Pvar] =
    &[&Pvar::new("corrupted", PvarClass::Counter, 9, "Copies with a changed bit.", Reading::Of(|| CORRUPTED.now()))];
