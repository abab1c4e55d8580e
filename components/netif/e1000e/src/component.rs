//! Registration.

use crate::module::E1000e;
use alloc::boxed::Box;
use alloc::vec::Vec;
use hw_x86_64::pci::Device;
use hw_x86_64::rank;
use opal_core::framework::netif;
use opal_core::mca::{self, Declined};

/// The component.
pub struct Component;

impl mca::Component for Component {
    opal_core::component_info!();

    fn open(&self) -> Result<(), Declined> {
        match rank::cores() {
            0 | 1 => Ok(()),
            _ => Err(Declined("this machine has several ranks, and a card is one rank's")),
        }
    }
}

impl netif::Component for Component {
    fn query(&self) -> Result<Vec<&'static dyn netif::Module>, Declined> {
        let device = Device::find(INTEL, I82574L).ok_or(Declined("this machine has no such card"))?;
        let module: &'static E1000e = Box::leak(Box::new(E1000e::new(device).map_err(Declined)?));
        Ok(Vec::from([module as &dyn netif::Module]))
    }
}

opal_core::component! {
    /// Intel's 82574L.
    pub static COMPONENT: Component = Component;
    in opal_core::framework::netif, name "e1000e", params &[]
}

const INTEL: u16 = 0x8086;
const I82574L: u16 = 0x10d3;
