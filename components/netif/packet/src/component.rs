//! Registration, and the choice of the interface.

use crate::module::Packet;
use crate::params;
use crate::raw::{Interface, Socket, why};
use alloc::boxed::Box;
use alloc::vec::Vec;
use opal_core::framework::netif;
use opal_core::mca::{self, Declined};
use opal_core::message;
use rustix::io::Errno;

/// The component.
pub struct Component;

impl mca::Component for Component {
    opal_core::component_info!();

    fn open(&self) -> Result<(), Declined> {
        match names().next() {
            Some(_) => Ok(()),
            None => Err(Declined("netif_packet_if names no interface; nothing is taken unasked")),
        }
    }
}

impl netif::Component for Component {
    fn query(&self) -> Result<Vec<&'static dyn netif::Module>, Declined> {
        let packet: &'static Packet = Box::leak(Box::new(first()?));
        Ok(Vec::from([packet as &dyn netif::Module]))
    }
}

/// The first interface that this host has.
fn first() -> Result<Packet, Declined> {
    let socket = Socket::new().map_err(|errno| {
        let what = "netif/packet: the system refuses raw frames";
        match errno {
            Errno::PERM | Errno::ACCESS => message!(
                "{what}, for which netif_packet_if asks: they take the capability CAP_NET_RAW. Run as root, or give it to the program: \
                 setcap cap_net_raw+ep PROGRAM"
            ),
            errno => message!("{what}: {errno}"),
        }
        Declined("the system refuses raw frames, see above")
    })?;
    let found = names().find_map(|name| match Interface::find(&socket, name) {
        Err(Errno::NODEV) => None,
        other => Some((name, other)),
    });
    let Some((name, found)) = found else {
        message!("netif/packet: netif_packet_if is `{}`, and this host has no such interface", params::IF.text());
        return Err(Declined("this host has no interface of netif_packet_if"));
    };
    let interface = found.map_err(|errno| {
        message!("netif/packet: interface {name} of netif_packet_if cannot be used: {}", why(errno));
        Declined("the interface of netif_packet_if cannot be used, see above")
    })?;
    Ok(Packet::new(socket, interface, name))
}

fn names() -> impl Iterator<Item = &'static str> {
    params::IF.text().split(',').map(str::trim).filter(|name| !name.is_empty())
}

opal_core::component! {
    /// Raw frames of an interface of the system, by packet sockets.
    pub static COMPONENT: Component = Component;
    in opal_core::framework::netif, name "packet", params params::ALL
}
