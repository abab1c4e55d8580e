//! Registration.

use crate::module::MODULE;
use ompi_core::framework::bml;
use opal_core::mca::{self, Declined};

/// The component.
pub struct Component;

impl mca::Component for Component {
    opal_core::component_info!();

    fn open(&self) -> Result<(), Declined> {
        // 1. Take this line out when the rest is written. Decline with half a sentence, which people read behind the
        // component's name, where what it needs is missing: a transport.
        Err(Declined(NOT_WRITTEN))
    }
}

impl bml::Component for Component {
    fn query(&self) -> Result<(i32, &'static dyn bml::Module), Declined> {
        // 2. Open the transports and hand each to `opal_core::progress::add_transport`, as bml/r2 does. They are opened once: a
        // library with two components of this framework that get here has a transport twice.
        Ok((PRIORITY, &MODULE))
    }
}

opal_core::component! {
    /// A choice among transports that is not written yet.
    pub static COMPONENT: Component = Component;
    in ompi_core::framework::bml, name "template", params &[]
}

/// 3. The highest one that accepts is used: bml/r2 has 10.
const PRIORITY: i32 = 5;
const NOT_WRITTEN: &str = "it is not written yet: src/component.rs of its crate says where to begin";
