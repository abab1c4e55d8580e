//! Registration.

use crate::module::{self, Ethernet};
use crate::params;
use alloc::boxed::Box;
use alloc::format;
use hw_x86_64::{ivshmem, rank};
use opal_core::framework::netif;
use opal_core::mca::{self, Declined};
use opal_core::sys;
use orte_core::boot_line;
use orte_core::framework::ess;

/// The component.
pub struct Component;

impl mca::Component for Component {
    opal_core::component_info!();

    fn open(&self) -> Result<(), Declined> {
        if ivshmem::memory().is_ok() {
            return Err(Declined("the ranks share memory"));
        }
        if rank::cores() > 1 {
            return Err(Declined("this machine has several ranks, and a card is one rank's"));
        }
        match netif::cards() {
            [] => Err(Declined("this machine has no network card that a component of netif drives")),
            _ => Ok(()),
        }
    }
}

impl ess::Component for Component {
    fn query(&self) -> Result<(i32, &'static dyn ess::Module), Declined> {
        let contract = boot_line::contract(sys::variable).map_err(|sentence| declined(&sentence))?;
        let contract = contract
            .filter(|contract| contract.size > 1)
            .ok_or(Declined("the boot line names no job of several ranks"))?;
        let secret = boot_line::secret(sys::variable).map_err(|sentence| declined(&sentence))?;
        let secret =
            secret.ok_or(Declined("the boot line says no secret=, by which the machines of a job know each other"))?;
        if contract.size > SIZE_MAX {
            return Err(declined(&format!(
                "the boot line says size={}; {SIZE_MAX} machines are the most",
                contract.size
            )));
        }
        opal_core::log::set_prefix(format!("{} rank {}", sys::hostname(), contract.rank));
        let module = module::ETHERNET.call_once(|| Ethernet::new(&contract, secret));
        netif::register(crate::wire::ETHERTYPE, module::hear)
            .map_err(|_| Declined("another component has taken the EtherType of its frames"))?;
        Ok((PRIORITY, module))
    }
}

opal_core::component! {
    /// A rank's place in a job of machines that only Ethernet joins.
    pub static COMPONENT: Component = Component;
    in orte_core::framework::ess, name "eth", params params::ALL
}

/// The boot line is wrong: the machine is about to end, so the sentence may stay for ever.
fn declined(sentence: &str) -> Declined {
    Declined(Box::leak(Box::from(sentence)))
}

/// Of one network, in which everybody hears everybody.
const SIZE_MAX: u32 = 1024;
const PRIORITY: i32 = 40;
