//! The module: one question and one answer at a time.

use crate::wire::{self, Answer, Route};
use alloc::vec::Vec;
use core::net::IpAddr;
use opal_core::framework::reachable::{End, Module, Nearness};
use opal_core::sync::ConditionalLock;
use opal_core::sys;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{self, AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netdevice};

/// A socket to the system's routes.
pub struct Netlink {
    asking: ConditionalLock<Asking>,
    /// Own addresses with the system's numbers of their interfaces.
    own: Vec<(IpAddr, u32)>,
}

struct Asking {
    socket: OwnedFd,
    sequence: u32,
}

impl Netlink {
    /// `None` where the system does not answer.
    pub fn new() -> Option<Netlink> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        // NETLINK_ROUTE is protocol 0.
        let socket = net::socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, None).ok()?;
        let addresses = sys::interfaces()?;
        let number = |name: &str| {
            // Any socket of the internet knows them; that of routes does not.
            let socket = net::socket_with(AddressFamily::INET, SocketType::DGRAM, flags, None).ok()?;
            netdevice::name_to_index(socket, name).ok()
        };
        let own = addresses.iter().filter_map(|one| Some((one.address, number(&one.name)?))).collect();
        let netlink = Netlink { asking: ConditionalLock::new(Asking { socket, sequence: 0 }), own };
        // A sandbox may give the socket and keep the answers.
        let here = IpAddr::from([127, 0, 0, 1]);
        netlink.route(here, here).ok().map(|_| netlink)
    }

    /// Where packets from one address to the other leave.
    fn route(&self, from: IpAddr, to: IpAddr) -> Result<Answer, Errno> {
        let mut asking = self.asking.lock();
        asking.sequence = asking.sequence.wrapping_add(1);
        let question = wire::question(asking.sequence, from, to);
        net::send(&asking.socket, &question, SendFlags::DONTWAIT)?;
        let mut bytes = [0; ANSWER_BYTES];
        // The answer is there when the question is sent. One of an earlier question that was not fetched may come first.
        loop {
            let (length, _) = net::recv(&asking.socket, &mut bytes[..], RecvFlags::DONTWAIT)?;
            if let Some(answer) = wire::answer(&bytes[..length.min(ANSWER_BYTES)], asking.sequence) {
                return Ok(answer);
            }
        }
    }
}

impl Module for Netlink {
    fn nearness(&self, own: &End, theirs: &End, by_address: Nearness) -> Nearness {
        let Some((_, interface)) = self.own.iter().find(|(address, _)| *address == own.address) else {
            return by_address;
        };
        match self.route(own.address, theirs.address) {
            Ok(Answer::Route(Route { interface: by, .. })) if by != *interface => Nearness::Astray,
            Ok(Answer::Route(Route { has_router: true, .. })) => Nearness::Routed,
            Ok(Answer::Route(_)) => Nearness::SameNetwork,
            Ok(Answer::NoRoute) => Nearness::Unreachable,
            // It does not say.
            Err(_) => by_address,
        }
    }
}

/// An answer has about 100.
const ANSWER_BYTES: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_knows_its_loopback() {
        let netlink = Netlink::new().expect("this system answers");
        let here = IpAddr::from([127, 0, 0, 1]);
        // Any address of the loopback is this machine's own, and a packet to one leads nowhere else.
        assert_eq!(netlink.route(here, IpAddr::from([127, 0, 0, 9])), Ok(Answer::NoRoute));
        assert!(netlink.own.iter().any(|(address, number)| *address == here && *number > 0));
        // No packet has such a destination.
        assert_eq!(netlink.route(here, IpAddr::from([255, 255, 255, 255])).ok(), Some(Answer::NoRoute));
    }

    #[test]
    fn answers_belong_to_their_questions() {
        let netlink = Netlink::new().expect("this system answers");
        let here = IpAddr::from([127, 0, 0, 1]);
        let stale = wire::question(77, here, here);
        net::send(&netlink.asking.lock().socket, &stale, SendFlags::DONTWAIT).unwrap();
        assert_eq!(netlink.route(here, here), Ok(Answer::NoRoute));
        let mut bytes = [0; 64];
        let left = net::recv(&netlink.asking.lock().socket, &mut bytes[..], RecvFlags::DONTWAIT);
        assert_eq!(left.err(), Some(Errno::AGAIN), "an answer is left");
    }
}
