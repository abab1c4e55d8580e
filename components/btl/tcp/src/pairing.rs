//! Which interface here talks to which there: addresses as framework reachable sees them.

use crate::wire::AddressRecord;
use alloc::vec::Vec;
use opal_core::framework::reachable::{self, End, Weight};

/// Pairs of records of this process and a peer that carry connections, each interface at most once, the best first. Both ends find
/// the same. `lower`: this process is the one that is asked first.
pub fn connections(ours: &[AddressRecord], theirs: &[AddressRecord], lower: bool) -> Vec<(usize, usize)> {
    let (ours, theirs) = (ends(ours), ends(theirs));
    if lower {
        return reachable::connections(&ours, &theirs);
    }
    reachable::connections(&theirs, &ours).into_iter().map(|(other, own)| (own, other)).collect()
}

/// All pairs that may be connected, as this process sees it, the best first.
pub fn attempts(ours: &[AddressRecord], theirs: &[AddressRecord]) -> Vec<((usize, usize), Weight)> {
    reachable::attempts(&ends(ours), &ends(theirs))
}

fn ends(records: &[AddressRecord]) -> Vec<End> {
    let end = |record: &AddressRecord| End {
        interface: record.interface,
        address: record.address,
        prefix: record.prefix,
        is_loopback: record.loopback,
        mbps: record.mbps,
        machine: record.network,
    };
    records.iter().map(end).collect()
}
