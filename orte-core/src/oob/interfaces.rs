//! At which of this machine's addresses mpirun, daemons and ports are called from other hosts: `oob_tcp_if_include` and
//! `oob_tcp_if_exclude`.

use crate::framework::oob;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::net::IpAddr;
use opal_core::sys::{self, InterfaceAddress};

/// The addresses, and why there are none if there are none.
#[derive(Debug, PartialEq, Eq)]
pub struct Chosen {
    /// In the order of the system.
    pub addresses: Vec<IpAddr>,
    /// What the machine has.
    all: String,
}

impl Chosen {
    /// Those of this machine, as the parameters say. `Err` with a sentence.
    pub fn by_parameters() -> Result<Chosen, String> {
        Chosen::of_machine(oob::TCP_IF_INCLUDE.text(), oob::TCP_IF_EXCLUDE.text())
    }

    /// Those of this machine that the two lists leave. `Err` with a sentence.
    pub fn of_machine(include: &str, exclude: &str) -> Result<Chosen, String> {
        let all = sys::interfaces().ok_or_else(|| "the system does not list its network interfaces".to_owned())?;
        Chosen::new(&all, include, exclude)
    }

    /// Reads the two lists. Without the first one loopback interfaces are taken only where there is nothing else.
    fn new(interfaces: &[InterfaceAddress], include: &str, exclude: &str) -> Result<Chosen, String> {
        let all = interfaces.iter().map(|one| format!("{} ({})", one.name, one.address)).collect::<Vec<_>>().join(", ");
        let words = |list: &str| -> Vec<String> {
            list.split(',').map(str::trim).filter(|word| !word.is_empty()).map(str::to_owned).collect()
        };
        for (name, list) in [("oob_tcp_if_include", include), ("oob_tcp_if_exclude", exclude)] {
            for word in words(list) {
                let is_network = word.contains('/');
                if is_network && network(&word).is_none() {
                    return Err(format!("{name}: `{word}` is no network such as 10.0.0.0/8"));
                }
                let is_known = interfaces.iter().any(|one| matches(one, &word));
                if !is_known && name == "oob_tcp_if_include" {
                    return Err(format!("{name}: `{word}` is no interface of this machine; it has {all}"));
                }
            }
        }
        let (include, exclude) = (words(include), words(exclude));
        let left: Vec<&InterfaceAddress> =
            interfaces.iter().filter(|one| !exclude.iter().any(|word| matches(one, word))).collect();
        let named: Vec<&InterfaceAddress> = match include.is_empty() {
            false => left.into_iter().filter(|one| include.iter().any(|word| matches(one, word))).collect(),
            true if left.iter().any(|one| !one.is_loopback) => {
                left.into_iter().filter(|one| !one.is_loopback).collect()
            }
            true => left,
        };
        Ok(Chosen { addresses: named.into_iter().map(|one| one.address).collect(), all })
    }

    /// Half a sentence.
    pub fn none(&self) -> String {
        format!("oob_tcp_if_include and oob_tcp_if_exclude leave no interface of {}", self.all)
    }
}

fn matches(interface: &InterfaceAddress, word: &str) -> bool {
    match network(word) {
        Some((address, prefix)) => holds(address, prefix, interface.address),
        None => interface.name == word,
    }
}

fn network(word: &str) -> Option<(IpAddr, u32)> {
    let (address, prefix) = word.split_once('/')?;
    let (address, prefix): (IpAddr, u32) = (address.parse().ok()?, prefix.parse().ok()?);
    (prefix <= if address.is_ipv4() { 32 } else { 128 }).then_some((address, prefix))
}

fn holds(network: IpAddr, prefix: u32, address: IpAddr) -> bool {
    match (network, address) {
        (IpAddr::V4(network), IpAddr::V4(address)) => {
            (network.to_bits() ^ address.to_bits()).checked_shr(32 - prefix).unwrap_or(0) == 0
        }
        (IpAddr::V6(network), IpAddr::V6(address)) => {
            (network.to_bits() ^ address.to_bits()).checked_shr(128 - prefix).unwrap_or(0) == 0
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use alloc::vec;

    fn machine() -> Vec<InterfaceAddress> {
        let one = |name: &str, address: &str, is_loopback| InterfaceAddress {
            name: name.to_owned(),
            address: address.parse().unwrap(),
            prefix: 24,
            is_loopback,
        };
        vec![one("lo", "127.0.0.1", true), one("eth0", "10.1.2.3", false), one("ib0", "fd00::3", false)]
    }

    fn chosen(include: &str, exclude: &str) -> Vec<String> {
        let chosen = Chosen::new(&machine(), include, exclude).unwrap();
        chosen.addresses.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn names_and_networks() {
        assert_eq!(chosen("", ""), ["10.1.2.3", "fd00::3"]);
        assert_eq!(chosen("ib0", ""), ["fd00::3"]);
        assert_eq!(chosen("10.0.0.0/8", ""), ["10.1.2.3"]);
        assert_eq!(chosen("lo", ""), ["127.0.0.1"]);
        assert_eq!(chosen("", "fd00::/16,nothing"), ["10.1.2.3"]);
        assert_eq!(chosen("", "eth0,ib0"), ["127.0.0.1"]);
        assert_eq!(chosen("eth0", "eth0"), [""; 0]);
        let refused = |include| Chosen::new(&machine(), include, "").unwrap_err();
        assert!(refused("eth9").contains("eth9") && refused("eth9").contains("eth0 (10.1.2.3)"));
        assert!(refused("10.0.0.0/99").contains("no network"));
    }
}
