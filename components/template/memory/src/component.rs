//! Registration.

use opal_core::framework::memory;
use opal_core::mca::{self, Declined};

/// The component.
pub struct Component;

impl mca::Component for Component {
    opal_core::component_info!();

    fn open(&self) -> Result<(), Declined> {
        // 1. Take this line out when the rest is written. Decline with half a sentence, which people read behind the
        // component's name, where what it needs is missing: a call of the system. A static component that declines ends MPI_Init.
        Err(Declined(NOT_WRITTEN))
    }
}

impl memory::Component for Component {}

opal_core::component! {
    /// A way to watch memory that is not written yet.
    pub static COMPONENT: Component = Component;
    in opal_core::framework::memory, name "template", params &[]
}

/// 2. Whether every range that goes away is told to `opal_core::framework::memory::released` before it goes.
fn watches() -> bool {
    false
}

opal_core::provide_memory!(watches);

const NOT_WRITTEN: &str = "it is not written yet: src/component.rs of its crate says where to begin";
