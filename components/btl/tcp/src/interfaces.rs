//! Which network interfaces to use.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::net::IpAddr;
use opal_core::framework::reachable::same_network;
use opal_core::sort;
use opal_core::sys;

/// An interface that is up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    pub name: String,
    pub loopback: bool,
    pub mbps: u32,
    /// Addresses with their prefix lengths.
    pub addresses: Vec<(IpAddr, u8)>,
}

/// Those of `all` that the two lists leave, and what the lists name in vain: one list may serve hosts with other names for their
/// interfaces, or one whose cable is out. `Err` with a sentence if nothing is there that `include` names.
pub fn choose(all: Vec<Interface>, include: &str, exclude: &str) -> Result<(Vec<Interface>, Vec<String>), String> {
    let (include, exclude) = (rules("btl_tcp_if_include", include)?, rules("btl_tcp_if_exclude", exclude)?);
    let in_vain = |rule: &&Rule<'_>| {
        !all.iter().any(|interface| interface.addresses.iter().any(|one| rule.meets(interface, one)))
    };
    if !include.is_empty() && include.iter().all(|rule| in_vain(&rule)) {
        let named: Vec<&str> = include.iter().map(|rule| rule.text).collect();
        return Err(format!(
            "btl_tcp_if_include names {}, which this machine does not have, or without an address or a link; it has {}",
            named.join(", "),
            list(&all)
        ));
    }
    let named = |parameter: &str, rule: &Rule<'_>| format!("{parameter} names {}", rule.text);
    let included = include.iter().filter(in_vain).map(|rule| named("btl_tcp_if_include", rule));
    let vain = included.chain(exclude.iter().filter(in_vain).map(|rule| named("btl_tcp_if_exclude", rule))).collect();
    let mut chosen = Vec::new();
    for mut interface in all {
        let addresses = core::mem::take(&mut interface.addresses);
        let wanted = |one: &(IpAddr, u8)| {
            (include.is_empty() || include.iter().any(|rule| rule.meets(&interface, one)))
                && !exclude.iter().any(|rule| rule.meets(&interface, one))
        };
        interface.addresses = addresses.into_iter().filter(wanted).collect();
        if !interface.addresses.is_empty() {
            chosen.push(interface);
        }
    }
    // The loopback first, then the fastest: matched messages travel on the first that reaches a peer.
    sort::by_key(&mut chosen, |interface| (!interface.loopback, core::cmp::Reverse(interface.mbps)));
    Ok((chosen, vain))
}

/// At most so many of them, in their order, and the names of those that are left out: first those without a device, which bridges of
/// containers and tunnels are, then the last ones.
pub fn most(all: Vec<Interface>, count: usize, has_device: impl Fn(&str) -> bool) -> (Vec<Interface>, Vec<String>) {
    let mut room = count.min(all.len());
    let devices: Vec<bool> =
        all.iter().map(|one| all.len() <= count || one.loopback || has_device(&one.name)).collect();
    let mut kept = alloc::vec![false; all.len()];
    for wanted in [true, false] {
        for (at, _) in devices.iter().enumerate().filter(|(_, is_device)| **is_device == wanted) {
            if room > 0 {
                (room, kept[at]) = (room - 1, true);
            }
        }
    }
    let (mut chosen, mut left_out) = (Vec::new(), Vec::new());
    for (interface, is_kept) in all.into_iter().zip(kept) {
        if is_kept { chosen.push(interface) } else { left_out.push(interface.name) }
    }
    (chosen, left_out)
}

/// A list of networks as addresses with prefix lengths. `Err` with a sentence.
pub fn networks(param: &str, text: &str) -> Result<Vec<(IpAddr, u8)>, String> {
    let network = |rule: Rule<'_>| {
        rule.network.ok_or_else(|| format!("{param} has `{}`: write networks such as 10.1.0.0/16", rule.text))
    };
    rules(param, text)?.into_iter().map(network).collect()
}

/// Applies what the user says of interfaces' speeds. `Err` with a sentence if it is no list of speeds; what it names in
/// vain is returned: another machine of the job may have it.
pub fn correct_speeds(all: &mut [Interface], text: &str) -> Result<Vec<String>, String> {
    let mut vain = Vec::new();
    for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
        let pair = word.split_once('=').and_then(|(name, mbps)| Some((name.trim(), mbps.trim().parse::<u32>().ok()?)));
        let Some((name, mbps)) = pair.filter(|(_, mbps)| *mbps > 0) else {
            return Err(format!(
                "btl_tcp_if_speed has `{word}`: write interfaces with Mb/s such as eth0=10000,eth1=1000"
            ));
        };
        match all.iter_mut().find(|interface| interface.name == name) {
            Some(interface) => interface.mbps = mbps,
            None => vain.push(String::from(name)),
        }
    }
    Ok(vain)
}

/// Whether there is hardware behind it, and not only other interfaces, or a program.
pub fn has_device(name: &str) -> bool {
    rustix::fs::stat(format!("/sys/class/net/{name}/device").as_str()).is_ok()
}

/// What the system knows of an interface's speed.
pub fn speed_mbps(name: &str, loopback: bool) -> u32 {
    if loopback {
        return LOOPBACK_MBPS;
    }
    sys::link_mbps(name).unwrap_or(UNKNOWN_MBPS)
}

/// For people: names and addresses.
pub fn list(all: &[Interface]) -> String {
    let mut text = String::new();
    for interface in all {
        for (address, prefix) in &interface.addresses {
            let comma = if text.is_empty() { "" } else { ", " };
            text.push_str(&format!("{comma}{} {address}/{prefix}", interface.name));
        }
    }
    if text.is_empty() { String::from("none") } else { text }
}

struct Rule<'a> {
    text: &'a str,
    network: Option<(IpAddr, u8)>,
}

impl Rule<'_> {
    fn meets(&self, interface: &Interface, (address, _): &(IpAddr, u8)) -> bool {
        match self.network {
            Some((network, prefix)) => same_network(network, *address, prefix),
            None => interface.name == self.text,
        }
    }
}

fn rules<'a>(param: &str, text: &'a str) -> Result<Vec<Rule<'a>>, String> {
    let words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
    words.map(|word| rule(param, word)).collect()
}

fn rule<'a>(param: &str, text: &'a str) -> Result<Rule<'a>, String> {
    let (address, prefix) = text.split_once('/').unwrap_or((text, ""));
    let Ok(address) = address.parse::<IpAddr>() else { return Ok(Rule { text, network: None }) };
    let widest = if address.is_ipv4() { 32 } else { 128 };
    let prefix = if prefix.is_empty() { Some(widest) } else { prefix.parse().ok().filter(|bits| *bits <= widest) };
    match prefix {
        Some(prefix) => Ok(Rule { text, network: Some((address, prefix)) }),
        None => Err(format!("{param} has `{text}`: after the slash stands a number of bits up to {widest}")),
    }
}

const LOOPBACK_MBPS: u32 = 40_000;
const UNKNOWN_MBPS: u32 = 1000;
