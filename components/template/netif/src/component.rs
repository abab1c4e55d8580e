//! Registration.

use crate::module::MODULE;
use alloc::vec;
use alloc::vec::Vec;
use opal_core::framework::netif;
use opal_core::mca::{self, Declined};

/// The component.
pub struct Component;

impl mca::Component for Component {
    opal_core::component_info!();

    fn open(&self) -> Result<(), Declined> {
        // 1. Take this line out when the rest is written. Decline with half a sentence, which people read behind the
        // component's name, where what it needs is missing.
        Err(Declined(NOT_WRITTEN))
    }
}

impl netif::Component for Component {
    fn query(&self) -> Result<Vec<&'static dyn netif::Module>, Declined> {
        // 2. A module for each card, reset and with its receive buffers given to it; decline where there is none. On a machine without an
        // operating system `hw_x86_64::pci` finds cards, and `hw_x86_64::dma` has memory that they see.
        Ok(vec![&MODULE])
    }
}

opal_core::component! {
    /// A network interface that is not written yet.
    pub static COMPONENT: Component = Component;
    in opal_core::framework::netif, name "template", params &[]
}

const NOT_WRITTEN: &str = "it is not written yet: src/component.rs of its crate says where to begin";
