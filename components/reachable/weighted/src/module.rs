//! The module.

use core::net::IpAddr;
use opal_core::framework::reachable::{End, Module, Nearness};

/// By addresses alone.
pub struct Weighted;

impl Module for Weighted {
    fn nearness(&self, own: &End, theirs: &End, by_address: Nearness) -> Nearness {
        // No router of the internet knows private addresses.
        let is_mixed = is_private(own.address) != is_private(theirs.address);
        if by_address == Nearness::Routed && is_mixed { Nearness::Astray } else { by_address }
    }
}

/// RFC 1918, RFC 4193.
fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_private(),
        IpAddr::V6(address) => address.is_unique_local(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(address: &str) -> End {
        End { interface: 0, address: address.parse().unwrap(), prefix: 24, is_loopback: false, mbps: 1, machine: 0 }
    }

    #[test]
    fn private_addresses_are_not_routed_to_public_ones() {
        let near = |one, other, by_address| Weighted.nearness(&end(one), &end(other), by_address);
        for (private, public) in [("10.0.0.1", "198.51.100.1"), ("fd77::1", "2001:db8::1")] {
            assert_eq!(near(private, public, Nearness::Routed), Nearness::Astray);
            assert_eq!(near(public, private, Nearness::Routed), Nearness::Astray);
            assert_eq!(near(private, private, Nearness::Routed), Nearness::Routed);
            assert_eq!(near(public, public, Nearness::Routed), Nearness::Routed);
            assert_eq!(near(private, public, Nearness::SameNetwork), Nearness::SameNetwork, "the netmask knows better");
        }
    }
}
