//! Performance variables: what MPI's tool interface reads of this component.

use crate::directory::POLLED;
use opal_core::mca::Pvar;
use opal_core::mca::pvar::{PvarClass, Reading};

/// All of them.
pub static ALL: &[&Pvar] = &[&Pvar::new(
    "polled",
    PvarClass::Counter,
    4,
    "Looks of passes of progress at windows where something was under way; at windows that rest they do not look.",
    Reading::Of(|| POLLED.now()),
)];
