//! Registration.

use opal_core::framework::memory;
use opal_core::mca;

/// The component.
pub struct Nobody;

impl mca::Component for Nobody {
    opal_core::component_info!();
}

impl memory::Component for Nobody {}

opal_core::component! {
    /// Nobody watches the program's memory.
    pub static COMPONENT: Nobody = Nobody;
    in opal_core::framework::memory, name "none", params &[]
}

fn watches() -> bool {
    false
}

opal_core::provide_memory!(watches);
