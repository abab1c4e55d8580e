//! Registration.

use crate::module::MODULE;
use alloc::vec;
use alloc::vec::Vec;
use opal_core::framework::btl;
use opal_core::mca::{self, Declined};

/// The component.
pub struct Component;

impl mca::Component for Component {
    opal_core::component_info!();

    fn open(&self) -> Result<(), Declined> {
        // 1. Take this line out when the rest is written. Decline with half a sentence, which people read behind the
        // component's name, where what it needs is missing: a device, a right, a peer on this node.
        Err(Declined(NOT_WRITTEN))
    }
}

impl btl::Component for Component {
    fn query(&self) -> Result<Vec<&'static dyn btl::Module>, Declined> {
        // 2. One module for each device, or one in all. What they own begins here, after `open`, and lives as long as the
        // process.
        Ok(vec![&MODULE])
    }
}

opal_core::component! {
    /// A transport that is not written yet.
    pub static COMPONENT: Component = Component;
    in opal_core::framework::btl, name "template", params &[]
}

const NOT_WRITTEN: &str = "it is not written yet: src/component.rs of its crate says where to begin";
