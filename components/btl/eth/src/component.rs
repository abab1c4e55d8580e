//! Registration.

use crate::module::{ETH, Eth};
use crate::{module, params, pvars, wire};
use alloc::vec::Vec;
use opal_core::Error;
use opal_core::framework::{btl, netif};
use opal_core::mca::{self, Declined};

/// The component.
pub struct Component;

impl mca::Component for Component {
    opal_core::component_info!();

    fn open(&self) -> Result<(), Declined> {
        if netif::cards().is_empty() {
            return Err(Declined(
                "no component of netif drives a network card of this machine; under an operating system, netif_packet_if names an interface",
            ));
        }
        Ok(())
    }
}

impl btl::Component for Component {
    fn query(&self) -> Result<Vec<&'static dyn btl::Module>, Declined> {
        let card = *netif::cards().first().ok_or(Declined("its card is gone"))?;
        let job = match btl::job() {
            Some(job) if job.size > 1 && !(job.one_node && btl::is_node_served()) => *job,
            _ => return Err(Declined("no rank of this job is on another machine")),
        };
        netif::register(wire::ETHERTYPE, module::arrived).map_err(|error| match error {
            Error::Exists => Declined("another component has taken the EtherType of its frames"),
            _ => Declined("frames of its EtherType cannot be received, see above"),
        })?;
        Ok(Vec::from([ETH.call_once(|| Eth::new(card, &job)) as &dyn btl::Module]))
    }
}

opal_core::component! {
    /// Raw Ethernet frames within the reach of one switch.
    pub static COMPONENT: Component = Component;
    in opal_core::framework::btl, name "eth", params params::ALL, pvars pvars::ALL
}
