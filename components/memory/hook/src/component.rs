//! Registration.

use crate::raw;
use opal_core::framework::memory;
use opal_core::mca::{self, Declined};

/// The component.
pub struct Hook;

impl mca::Component for Hook {
    opal_core::component_info!();

    fn open(&self) -> Result<(), Declined> {
        if raw::watches() {
            return Ok(());
        }
        Err(Declined(
            "the C library's malloc could not be told before main to keep its memory; build the library with memory/none",
        ))
    }
}

impl memory::Component for Hook {}

opal_core::component! {
    /// Sees every release of the program's memory by taking the C library's place.
    pub static COMPONENT: Hook = Hook;
    in opal_core::framework::memory, name "hook", params &[]
}

opal_core::provide_memory!(crate::raw::watches, crate::raw::sees);
