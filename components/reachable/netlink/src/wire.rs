//! Messages of rtnetlink(7), in the machine's byte order; netlink(7) says how they are laid out.
//!
//! Head: 0 length u32 · 4 kind u16 · 6 flags u16 · 8 sequence u32 · 12 port u32. A route: 16 family u8 · 17 destination's bits u8 ·
//! 18 source's bits u8 · 19 tos u8 · 20 table u8 · 21 protocol u8 · 22 scope u8 · 23 type u8 · 24 flags u32. Attributes from 28 on:
//! 0 length u16 · 2 kind u16 · 4 value, padded to 4 bytes. An error: 16 number i32.

use alloc::vec::Vec;
use core::net::IpAddr;

/// What the system says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// There is a way.
    Route(Route),
    /// There is none that leaves this machine.
    NoRoute,
}

/// A way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// The number of the interface by which packets leave.
    pub interface: u32,
    /// They go to a router.
    pub has_router: bool,
}

/// Asks for the route of packets from one address to another of the same family.
pub fn question(sequence: u32, from: IpAddr, to: IpAddr) -> Vec<u8> {
    let (family, bits) = if to.is_ipv4() { (AF_INET, 32) } else { (AF_INET6, 128) };
    let mut bytes = Vec::new();
    // The length is known at the end.
    bytes.extend([0; 4]);
    bytes.extend(GET_ROUTE.to_ne_bytes());
    bytes.extend(REQUEST.to_ne_bytes());
    bytes.extend(sequence.to_ne_bytes());
    bytes.extend([0; 4]);
    bytes.extend([family, bits, bits, 0, 0, 0, 0, 0]);
    bytes.extend([0; 4]);
    for (kind, address) in [(DESTINATION, to), (SOURCE, from)] {
        let octets = match &address {
            IpAddr::V4(address) => &address.octets()[..],
            IpAddr::V6(address) => &address.octets()[..],
        };
        bytes.extend((4 + octets.len() as u16).to_ne_bytes());
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(octets);
    }
    let length = bytes.len() as u32;
    bytes[..4].copy_from_slice(&length.to_ne_bytes());
    bytes
}

/// The answer to the question with this number; `None` if it is another one's, or follows no format.
pub fn answer(bytes: &[u8], sequence: u32) -> Option<Answer> {
    let length = u32_at(bytes, 0)? as usize;
    let bytes = bytes.get(..length)?;
    if u32_at(bytes, 8)? != sequence {
        return None;
    }
    match u16_at(bytes, 4)? {
        ERROR => Some(Answer::NoRoute),
        NEW_ROUTE if *bytes.get(23)? == UNICAST => {
            let (mut interface, mut has_router) = (None, false);
            let mut rest = bytes.get(28..)?;
            while !rest.is_empty() {
                let (length, kind) = (usize::from(u16_at(rest, 0)?), u16_at(rest, 2)?);
                let value = rest.get(4..length)?;
                match kind {
                    OUT_INTERFACE => interface = Some(u32_at(value, 0)?),
                    GATEWAY | VIA => has_router = true,
                    _ => {}
                }
                rest = rest.get(length.next_multiple_of(4)..).unwrap_or(&[]);
            }
            Some(Answer::Route(Route { interface: interface?, has_router }))
        }
        // To this machine itself, to all, or to nowhere.
        NEW_ROUTE => Some(Answer::NoRoute),
        _ => None,
    }
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|bytes| u16::from_ne_bytes(*bytes))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|bytes| u32::from_ne_bytes(*bytes))
}

const AF_INET: u8 = 2;
const AF_INET6: u8 = 10;
const REQUEST: u16 = 1;
const ERROR: u16 = 2;
const NEW_ROUTE: u16 = 24;
const GET_ROUTE: u16 = 26;
const UNICAST: u8 = 1;
const DESTINATION: u16 = 1;
const SOURCE: u16 = 2;
const OUT_INTERFACE: u16 = 4;
const GATEWAY: u16 = 5;
const VIA: u16 = 18;

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(kind: u16, route_type: u8, attributes: &[(u16, u32)]) -> Vec<u8> {
        let mut bytes = question(9, IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2]));
        bytes.truncate(28);
        bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
        bytes[23] = route_type;
        for (kind, value) in attributes {
            bytes.extend(8u16.to_ne_bytes());
            bytes.extend(kind.to_ne_bytes());
            bytes.extend(value.to_ne_bytes());
        }
        let length = bytes.len() as u32;
        bytes[..4].copy_from_slice(&length.to_ne_bytes());
        bytes
    }

    #[test]
    fn answers() {
        let route = |interface, has_router| Some(Answer::Route(Route { interface, has_router }));
        assert_eq!(answer(&reply(NEW_ROUTE, UNICAST, &[(OUT_INTERFACE, 3)]), 9), route(3, false));
        assert_eq!(answer(&reply(NEW_ROUTE, UNICAST, &[(GATEWAY, 1), (OUT_INTERFACE, 3)]), 9), route(3, true));
        assert_eq!(answer(&reply(NEW_ROUTE, 7, &[(OUT_INTERFACE, 3)]), 9), Some(Answer::NoRoute), "type unreachable");
        assert_eq!(answer(&reply(ERROR, 0, &[]), 9), Some(Answer::NoRoute));
        assert_eq!(answer(&reply(NEW_ROUTE, UNICAST, &[(OUT_INTERFACE, 3)]), 8), None, "another question's");
        assert_eq!(answer(&reply(NEW_ROUTE, UNICAST, &[]), 9), None, "by no interface");
    }

    #[test]
    fn what_is_cut_is_no_answer() {
        let whole = reply(NEW_ROUTE, UNICAST, &[(GATEWAY, 1), (OUT_INTERFACE, 3)]);
        for length in 0..whole.len() {
            assert_eq!(answer(&whole[..length], 9), None);
            let mut short = whole[..length].to_vec();
            if let Some(first) = short.first_chunk_mut::<4>() {
                *first = (length as u32).to_ne_bytes();
            }
            // Whatever it is taken for, nothing beyond its end is read.
            _ = answer(&short, 9);
        }
        let mut wild = whole.clone();
        wild[28..30].copy_from_slice(&3u16.to_ne_bytes());
        assert_eq!(answer(&wild, 9), None, "an attribute that is shorter than its head");
    }
}
