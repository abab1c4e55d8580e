//! Which interface here talks to which there. Both ends compute the same from the same two lists.

use crate::interfaces::same_network;
use crate::wire::AddressRecord;
use alloc::vec::Vec;
use opal_core::sort;

/// Pairs of records, each interface at most once, the best first. `lower` is what the process with the lower index
/// published.
///
/// Processes that share all interfaces use the loopback if both have it. Others use every pair of interfaces on the same
/// network; if there is none, the single fastest pair, hoping for a route.
pub fn pairs(lower: &[AddressRecord], higher: &[AddressRecord]) -> Vec<(usize, usize)> {
    let mut all = Vec::new();
    for (low, one) in lower.iter().enumerate() {
        for (high, other) in higher.iter().enumerate() {
            let reachability = reachability(one, other, lower, higher);
            if reachability > 0 {
                all.push((reachability, one.mbps.min(other.mbps), low, high));
            }
        }
    }
    // Better first, then faster, then in the order of the lists.
    sort::by_key(&mut all, |(reachability, mbps, low, high)| (core::cmp::Reverse((*reachability, *mbps)), *low, *high));
    let best = all.first().map_or(0, |(reachability, ..)| *reachability);
    let mut chosen: Vec<(usize, usize)> = Vec::new();
    for (reachability, _, low, high) in all {
        let alone = best != SAME_NETWORK && !chosen.is_empty();
        let taken = |(one, other): &(usize, usize)| {
            lower[*one].interface == lower[low].interface || higher[*other].interface == higher[high].interface
        };
        if reachability == best && !alone && !chosen.iter().any(taken) {
            chosen.push((low, high));
        }
    }
    chosen
}

fn reachability(one: &AddressRecord, other: &AddressRecord, lower: &[AddressRecord], higher: &[AddressRecord]) -> u32 {
    let together = one.network == other.network;
    if one.address.is_ipv4() != other.address.is_ipv4() {
        return 0;
    }
    if one.loopback || other.loopback {
        return if one.loopback && other.loopback && together { LOOPBACK } else { 0 };
    }
    if together {
        // Any own address is reached; its own is the natural one.
        return if one.address == other.address { SAME_NETWORK } else { 0 };
    }
    // Bridges that have the same address on many machines lead back to where one is.
    let here_too = |address, list: &[AddressRecord]| list.iter().any(|record| record.address == address);
    if here_too(other.address, lower) || here_too(one.address, higher) {
        return 0;
    }
    let near = one.prefix == other.prefix && same_network(one.address, other.address, one.prefix);
    if near { SAME_NETWORK } else { ROUTED }
}

const LOOPBACK: u32 = 3;
const SAME_NETWORK: u32 = 2;
const ROUTED: u32 = 1;
