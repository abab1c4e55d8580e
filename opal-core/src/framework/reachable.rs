//! Reachability: which interface of this process talks to which of a peer, before anybody has tried.
//!
//! Two questions, for transports between machines. [`connections`] says which pairs carry data at the same time. Both ends answer
//! it by themselves and must find the same, so it depends on what both have published and on nothing else. [`attempts`] says between
//! which addresses this process tries to connect, in which order. That is this process's own affair: a component may ask the system.
//! All of it is a guess. The transport finds out by its deadlines, and tries the next pair.
#![allow(unsafe_code)] // linkme's expansion

use crate::mca::select::{self, Verdict};
use crate::mca::{self, Declined};
use crate::sync::Once;
use crate::{Result, sort};
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::net::IpAddr;

/// An address of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// The interface's number at its owner.
    pub interface: u8,
    /// The address.
    pub address: IpAddr,
    /// Bits of it that its network has in common.
    pub prefix: u8,
    /// It leads nowhere else.
    pub is_loopback: bool,
    /// What the interface carries, in Mb/s.
    pub mbps: u32,
    /// Equal for processes that share all interfaces.
    pub machine: u64,
}

/// How near two addresses seem to be, by what can be known of them. The later, the better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Nearness {
    /// No packet finds the way.
    Unreachable,
    /// There may be a way that leaves by another interface.
    Astray,
    /// A router may know the way.
    Routed,
    /// On one network.
    SameNetwork,
    /// Both are this machine.
    Loopback,
}

/// How much a pair of addresses promises. The greater, the better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Weight {
    /// How near they are.
    pub nearness: Nearness,
    /// What the slower end carries, in Mb/s.
    pub mbps: u32,
}

impl Weight {
    /// It is not tried.
    pub const NONE: Weight = Weight { nearness: Nearness::Unreachable, mbps: 0 };
}

/// Somebody who knows ways.
pub trait Module: Sync {
    /// How near `theirs`, an address of another machine, is for packets that leave with address `own`. `by_address` is what netmasks
    /// say: [`Nearness::Routed`] or [`Nearness::SameNetwork`]. Never [`Nearness::Loopback`]. Waits for nothing.
    fn nearness(&self, own: &End, theirs: &End, by_address: Nearness) -> Nearness;
}

/// Somebody who may know ways.
pub trait Component: mca::Component {
    /// Priority and module, after `open`. The highest is used.
    fn query(&self) -> core::result::Result<(i32, &'static dyn Module), Declined>;
}

crate::framework! {
    /// Says which addresses reach which.
    "reachable", Opal, version 1, OneOfMany, OMPI_REACHABLES: dyn Component
}

static SELECTED: Once<Option<&'static dyn Module>> = Once::new();

/// Opens the components, once. Where none runs the addresses alone decide. Not by two threads at once.
pub fn select() -> Result<()> {
    if SELECTED.get().is_some() {
        return Ok(());
    }
    let mut offers = Vec::new();
    for component in mca::open(&FRAMEWORK, &OMPI_REACHABLES)? {
        match component.query() {
            Ok((priority, module)) => offers.push((component, priority, module)),
            Err(Declined(why)) => {
                component.close();
                select::record(component.info(), Verdict::Declined(why));
            }
        }
    }
    sort::by_key(&mut offers, |(_, priority, _)| Reverse(*priority));
    let mut best = None;
    for (component, priority, module) in offers {
        if best.is_none() {
            best = Some(module);
            select::record(component.info(), Verdict::Chosen(Some(priority)));
        } else {
            component.close();
            select::record(component.info(), Verdict::LowerPriority(priority));
        }
    }
    SELECTED.call_once(|| best);
    Ok(())
}

/// Pairs of `lower` and `higher` that carry data at the same time, each interface at most once, the best first. Both ends get the same
/// from the same two lists.
///
/// Processes that share all interfaces use the loopback if both have it. Others use every pair of interfaces on the same network; if
/// there is none, the single fastest pair, hoping for a route.
pub fn connections(lower: &[End], higher: &[End]) -> Vec<(usize, usize)> {
    let mut all = Vec::new();
    for (low, one) in lower.iter().enumerate() {
        for (high, other) in higher.iter().enumerate() {
            let nearness = by_address(one, other, lower, higher);
            if nearness > Nearness::Unreachable {
                all.push((nearness, one.mbps.min(other.mbps), low, high));
            }
        }
    }
    // Better first, then faster, then in the order of the lists.
    sort::by_key(&mut all, |(nearness, mbps, low, high)| (Reverse((*nearness, *mbps)), *low, *high));
    let best = all.first().map_or(Nearness::Unreachable, |(nearness, ..)| *nearness);
    let mut chosen: Vec<(usize, usize)> = Vec::new();
    for (nearness, _, low, high) in all {
        let alone = best != Nearness::SameNetwork && !chosen.is_empty();
        let taken = |(one, other): &(usize, usize)| {
            lower[*one].interface == lower[low].interface || higher[*other].interface == higher[high].interface
        };
        if nearness == best && !alone && !chosen.iter().any(taken) {
            chosen.push((low, high));
        }
    }
    chosen
}

/// All pairs of `ours` and `theirs` that may be connected, as this process sees it, the best first.
pub fn attempts(ours: &[End], theirs: &[End]) -> Vec<((usize, usize), Weight)> {
    attempts_by(SELECTED.get().copied().flatten(), ours, theirs)
}

/// As [`attempts`], asking this module.
pub fn attempts_by(module: Option<&dyn Module>, ours: &[End], theirs: &[End]) -> Vec<((usize, usize), Weight)> {
    let mut all = Vec::new();
    for (here, own) in ours.iter().enumerate() {
        for (there, other) in theirs.iter().enumerate() {
            let by_address = by_address(own, other, ours, theirs);
            let nearness = match module {
                Some(module) if by_address > Nearness::Unreachable && own.machine != other.machine => {
                    module.nearness(own, other, by_address)
                }
                _ => by_address,
            };
            if nearness > Nearness::Unreachable {
                all.push(((here, there), Weight { nearness, mbps: own.mbps.min(other.mbps) }));
            }
        }
    }
    sort::by_key(&mut all, |((here, there), weight)| (Reverse(*weight), *here, *there));
    all
}

/// How near two addresses are by themselves: by family, netmask, and what else the two processes have. The same from both ends.
fn by_address(one: &End, other: &End, ones: &[End], others: &[End]) -> Nearness {
    let together = one.machine == other.machine;
    if one.address.is_ipv4() != other.address.is_ipv4() {
        return Nearness::Unreachable;
    }
    if one.is_loopback || other.is_loopback {
        let is_here = one.is_loopback && other.is_loopback && together;
        return if is_here { Nearness::Loopback } else { Nearness::Unreachable };
    }
    if together {
        // Any own address is reached; its own is the natural one.
        return if one.address == other.address { Nearness::SameNetwork } else { Nearness::Unreachable };
    }
    // Bridges that have the same address on many machines lead back to where one is.
    let here_too = |address, list: &[End]| list.iter().any(|end| end.address == address);
    if here_too(other.address, ones) || here_too(one.address, others) {
        return Nearness::Unreachable;
    }
    let near = one.prefix == other.prefix && same_network(one.address, other.address, one.prefix);
    if near { Nearness::SameNetwork } else { Nearness::Routed }
}

/// Whether two addresses agree in their first bits.
pub fn same_network(one: IpAddr, other: IpAddr, prefix: u8) -> bool {
    match (one, other) {
        (IpAddr::V4(one), IpAddr::V4(other)) => {
            let differ = one.to_bits() ^ other.to_bits();
            prefix == 0 || differ >> 32u32.saturating_sub(u32::from(prefix)) == 0
        }
        (IpAddr::V6(one), IpAddr::V6(other)) => {
            let differ = one.to_bits() ^ other.to_bits();
            prefix == 0 || differ >> 128u32.saturating_sub(u32::from(prefix)) == 0
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn end(interface: u8, address: &str, prefix: u8, mbps: u32, machine: u64) -> End {
        let address: IpAddr = address.parse().unwrap();
        End { interface, address, prefix, is_loopback: address.is_loopback(), mbps, machine }
    }

    /// Knows that packets leave by interface 1.
    struct Second;

    impl Module for Second {
        fn nearness(&self, own: &End, _theirs: &End, by_address: Nearness) -> Nearness {
            if own.interface == 1 { by_address } else { Nearness::Astray }
        }
    }

    #[test]
    fn attempts_are_all_pairs_by_weight() {
        let here =
            vec![end(0, "10.0.0.1", 24, 9000, 1), end(1, "10.0.1.1", 24, 1000, 1), end(2, "127.0.0.1", 8, 40_000, 1)];
        let there =
            vec![end(0, "10.0.1.2", 24, 9000, 2), end(1, "192.0.2.1", 24, 1000, 2), end(2, "127.0.0.1", 8, 40_000, 2)];
        let pairs = |module| attempts_by(module, &here, &there).into_iter().map(|(pair, _)| pair).collect::<Vec<_>>();
        assert_eq!(pairs(None), [(1, 0), (0, 0), (0, 1), (1, 1)], "the same network, then the fastest");
        assert_eq!(pairs(Some(&Second)), [(1, 0), (1, 1), (0, 0), (0, 1)], "what goes astray comes last");
        let to_itself = attempts_by(Some(&Second), &here, &here);
        assert_eq!(to_itself[0].0, (2, 2), "the loopback, which nobody is asked about");
        assert!(attempts_by(None, &here, &[end(0, "2001:db8::1", 64, 1000, 2)]).is_empty(), "another family");
        assert!(
            attempts_by(None, &here, &[end(0, "10.0.0.1", 24, 1000, 2)]).is_empty(),
            "it leads back to where one is"
        );
    }
}
