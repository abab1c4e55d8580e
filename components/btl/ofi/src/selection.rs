//! Which of libfabric's offers is taken, and why not the others.

use crate::abi::ADDR_STR;
use crate::raw::{At, Offer};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use opal_fabric::verdict::{Verdict, best, place_in, words};

/// What the user says.
#[derive(Clone, Copy, Debug)]
pub struct Wishes<'a> {
    /// `btl_ofi_provider_include`.
    pub include: &'a str,
    /// `btl_ofi_provider_exclude`.
    pub exclude: &'a str,
    /// `btl_ofi_interface`.
    pub interface: &'a str,
    /// `--mca btl` names this component.
    pub is_named: bool,
    /// All ranks are on this node.
    pub one_node: bool,
}

/// What a provider is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProviderKind {
    /// It drives a network's hardware.
    Hardware,
    /// It uses the system's sockets, as btl/tcp does.
    Sockets,
    /// It emulates messages over something that has none, slowly.
    Emulating,
    /// It reaches processes of this node alone.
    Node,
}

impl Wishes<'_> {
    /// Whether the user wants a fabric in so many words: one that fails then ends the start.
    pub fn are_explicit(&self) -> bool {
        self.is_named || !self.include.trim().is_empty()
    }
}

impl ProviderKind {
    /// By the provider's name.
    pub fn of(provider: &str) -> ProviderKind {
        let (core, layer) = provider.split_once(';').unwrap_or((provider, ""));
        match (core, layer) {
            ("shm" | "sm2" | "lnx", _) => ProviderKind::Node,
            ("sockets" | "udp" | "usnic", _) | (_, "ofi_rxd") => ProviderKind::Emulating,
            ("tcp" | "net", _) => ProviderKind::Sockets,
            _ => ProviderKind::Hardware,
        }
    }

    /// Time of a short message in one direction: what such networks have, not measured.
    pub fn latency_ns(self) -> u32 {
        if self == ProviderKind::Hardware { 2000 } else { 12_000 }
    }

    /// Bandwidth: what such networks have, not measured.
    pub fn bandwidth_mbps(self) -> u32 {
        if self == ProviderKind::Hardware { 100_000 } else { 10_000 }
    }
}

/// The offer that is taken, if any, and a verdict on each.
pub fn choose(offers: &[Offer], wishes: &Wishes<'_>) -> (Option<usize>, Vec<Verdict>) {
    let judged: Vec<Result<Rank, String>> = offers.iter().map(|offer| rank(offer, wishes)).collect();
    let best = best(&judged, |_| true);
    let verdict = |(at, judged): (usize, Result<Rank, String>)| match (best, judged) {
        (Some(best), Ok(_)) if at == best => Verdict::Taken,
        (Some(best), Ok(_)) => Verdict::Left(format!("{} is preferred", offers[best].described())),
        (None, Ok(_)) => Verdict::Left(String::from("none is preferred")),
        (_, Err(why)) => Verdict::Left(why),
    };
    (best, judged.into_iter().enumerate().map(verdict).collect())
}

/// In order: place in the user's lists, kind, whether it reaches others, kind of address.
type Rank = (usize, usize, ProviderKind, bool, u8);

fn rank(offer: &Offer, wishes: &Wishes<'_>) -> Result<Rank, String> {
    if words(wishes.exclude).any(|name| is_provider(name, &offer.provider)) {
        return Err(String::from("btl_ofi_provider_exclude names it"));
    }
    let included = place_in("btl_ofi_provider_include", wishes.include, |name| is_provider(name, &offer.provider))?;
    let kind = ProviderKind::of(&offer.provider);
    let core = offer.provider.split(';').next().unwrap_or_default();
    match kind {
        ProviderKind::Node => return Err(String::from("it reaches processes of this node alone, as btl/sm does")),
        _ if offer.provider.ends_with(";ofi_rxd") => {
            return Err(String::from("the suite of framework btl fails over it, so it is not supported"));
        }
        ProviderKind::Emulating if included.is_none() => {
            return Err(format!("it emulates a fabric, slowly: only `--mca btl_ofi_provider_include {core}` takes it"));
        }
        ProviderKind::Sockets if included.is_none() && !wishes.is_named => {
            return Err(format!(
                "btl/tcp serves the system's sockets: `--mca btl_ofi_provider_include {core}` takes it all the same"
            ));
        }
        _ if offer.format == ADDR_STR => return Err(String::from("its addresses are texts of any length")),
        _ => {}
    }
    let is_interface = |name: &str| name == offer.domain || name == offer.fabric;
    let interface = place_in("btl_ofi_interface", wishes.interface, is_interface)?;
    match offer.at {
        At::LinkLocal => return Err(String::from("its address is link-local, which other hosts cannot use")),
        At::Loopback if !wishes.one_node && interface.is_none() => {
            return Err(String::from("it reaches this node alone"));
        }
        _ => {}
    }
    let distant = wishes.one_node && offer.at != At::Loopback;
    Ok((included.unwrap_or(0), interface.unwrap_or(0), kind, distant, u8::from(offer.at == At::Six)))
}

/// Whether a name in a list means a provider: all of it, or what stands before the layer above.
fn is_provider(name: &str, provider: &str) -> bool {
    name == provider || provider.split(';').next() == Some(name)
}
