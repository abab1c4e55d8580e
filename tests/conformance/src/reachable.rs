//! The suite of framework reachable.

use core::net::IpAddr;
use opal_core::framework::reachable::{Component, End, Nearness};
use opal_core::sys;
use std::time::{Duration, Instant};

/// Asks about pairs of this machine's addresses and those of other machines. `Ok` says how many pairs have another answer than their
/// netmasks give; `Err` is a sentence.
pub fn suite(component: &dyn Component) -> Result<usize, String> {
    let (_, module) = component.query().map_err(|declined| format!("it declines: {}", declined.0))?;
    let mut own: Vec<IpAddr> = sys::interfaces().unwrap_or_default().into_iter().map(|one| one.address).collect();
    // What this machine does not have is asked about as well: an address may be gone.
    own.extend(["10.77.0.1", "198.51.100.1", "2001:db8::1", "fd77::1"].map(|text| text.parse::<IpAddr>().unwrap()));
    let others = ["10.77.0.2", "192.0.2.1", "198.51.100.2", "203.0.113.7", "2001:db8::2", "fd77::2"];
    let mut changed = 0;
    for (own, others) in own.into_iter().map(|address| (address, others)) {
        for theirs in others.map(|text| text.parse::<IpAddr>().unwrap()) {
            if own.is_ipv4() != theirs.is_ipv4() || own.is_loopback() {
                continue;
            }
            let end =
                |address, machine| End { interface: 0, address, prefix: 24, is_loopback: false, mbps: 1000, machine };
            for by_address in [Nearness::Routed, Nearness::SameNetwork] {
                let begun = Instant::now();
                let ask = || module.nearness(&end(own, 1), &end(theirs, 2), by_address);
                let (first, second) = (ask(), ask());
                if first != second {
                    return Err(format!("{own} to {theirs} is {first:?} and then {second:?}"));
                }
                if first == Nearness::Loopback {
                    return Err(format!("{own} to {theirs} is another machine, and not {first:?}"));
                }
                if begun.elapsed() > Duration::from_secs(2) {
                    return Err(format!("{own} to {theirs}: two answers take {:?}", begun.elapsed()));
                }
                changed += usize::from(first != by_address);
            }
        }
    }
    Ok(changed)
}
