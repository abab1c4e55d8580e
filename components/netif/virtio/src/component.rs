//! Registration.

use crate::module::Virtio;
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
        let device = IDS.iter().find_map(|id| Device::find(VENDOR, *id));
        let device = device.ok_or(Declined("this machine has no such card"))?;
        let module: &'static Virtio = Box::leak(Box::new(Virtio::new(device).map_err(Declined)?));
        Ok(Vec::from([module as &dyn netif::Module]))
    }
}

opal_core::component! {
    /// Cards of machine monitors.
    pub static COMPONENT: Component = Component;
    in opal_core::framework::netif, name "virtio", params &[]
}

const VENDOR: u16 = 0x1af4;
/// A network card of virtio 1, and one that also speaks the older drafts (virtio 1.2, 4.1.2).
const IDS: [u16; 2] = [0x1041, 0x1000];
