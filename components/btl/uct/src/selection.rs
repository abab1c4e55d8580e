//! Which of UCT's offers is taken, and why not the others.

use crate::raw::{DeviceKind, Offer};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use opal_fabric::verdict::{Verdict, best, place_in};

/// What the user says.
#[derive(Clone, Copy, Debug)]
pub struct Wishes<'a> {
    /// `btl_uct_transports`.
    pub transports: &'a str,
    /// `btl_uct_devices`.
    pub devices: &'a str,
    /// `--mca btl` names this component.
    pub is_named: bool,
    /// All ranks are on this node.
    pub one_node: bool,
}

/// What a transport is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TransportKind {
    /// It drives a network's hardware.
    Hardware,
    /// It uses the system's sockets, as btl/tcp does.
    Sockets,
    /// It reaches processes of this node alone.
    Node,
    /// It moves memory of processes of this node, and carries no messages.
    Mover,
    /// It joins two endpoints that must know each other.
    Paired,
    /// It is for something else.
    Other,
}

/// What is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The offer that carries messages.
    pub messages: usize,
    /// The one that moves memory.
    pub memory: Option<usize>,
}

impl Wishes<'_> {
    /// Whether the user wants a fabric in so many words: one that fails then ends the start.
    pub fn are_explicit(&self) -> bool {
        self.is_named || !self.transports.trim().is_empty()
    }
}

impl TransportKind {
    /// By the transport's name, and what its device reaches.
    pub fn of(transport: &str, device: DeviceKind) -> TransportKind {
        match (device, transport) {
            (DeviceKind::Accelerator | DeviceKind::Itself, _) => TransportKind::Other,
            (DeviceKind::Node, "cma" | "knem") => TransportKind::Mover,
            (DeviceKind::Node, _) => TransportKind::Node,
            (DeviceKind::Network, "tcp") => TransportKind::Sockets,
            (DeviceKind::Network, name) if name.starts_with("rc_") => TransportKind::Paired,
            (DeviceKind::Network, _) => TransportKind::Hardware,
        }
    }
}

/// What is taken, if anything, and a verdict on each.
pub fn choose(offers: &[Offer], wishes: &Wishes<'_>) -> (Option<Choice>, Vec<Verdict>) {
    let judged: Vec<Result<Rank, String>> = offers.iter().map(|offer| rank(offer, wishes)).collect();
    let messages = best(&judged, |rank| rank.kind != TransportKind::Mover);
    let memory = best(&judged, |rank| rank.kind == TransportKind::Mover);
    let is_here = |at: usize| judged[at].as_ref().is_ok_and(|rank| rank.kind == TransportKind::Node);
    let memory = memory.filter(|_| messages.is_some_and(is_here));
    let verdict = |(at, judged): (usize, &Result<Rank, String>)| match judged {
        Ok(_) if messages == Some(at) || memory == Some(at) => Verdict::Taken,
        Ok(rank) if rank.kind == TransportKind::Mover && memory.is_none() => Verdict::Left(String::from(
            "it moves memory and carries no messages: name one of this node with it, such as posix,cma",
        )),
        Ok(rank) => {
            let better = if rank.kind == TransportKind::Mover { memory } else { messages };
            let better = better.map_or_else(String::new, |better| offers[better].described());
            Verdict::Left(format!("{better} is preferred"))
        }
        Err(why) => Verdict::Left(why.clone()),
    };
    let verdicts = judged.iter().enumerate().map(verdict).collect();
    (messages.map(|messages| Choice { messages, memory }), verdicts)
}

/// In this order: place in the user's lists, kind, kind of hardware, whether it reaches others.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    transport: usize,
    device: usize,
    kind: TransportKind,
    hardware: usize,
    is_distant: bool,
}

fn rank(offer: &Offer, wishes: &Wishes<'_>) -> Result<Rank, String> {
    let Offer { transport, device, kind, .. } = offer;
    let named = place_in("btl_uct_transports", wishes.transports, |name| name == transport)?;
    let transport_kind = TransportKind::of(transport, *kind);
    match transport_kind {
        TransportKind::Other if *kind == DeviceKind::Itself => {
            return Err(String::from("it reaches this process alone, as btl/self does"));
        }
        TransportKind::Other => return Err(String::from("it reaches an accelerator's memory")),
        TransportKind::Paired => {
            return Err(String::from(
                "it joins endpoints in pairs, which btl/uct does not; dc_mlx5, ud_mlx5 and ud_verbs do without",
            ));
        }
        TransportKind::Node | TransportKind::Mover if named.is_none() => {
            return Err(format!(
                "btl/sm serves processes of this node: `--mca btl_uct_transports {transport}` takes it all the same"
            ));
        }
        TransportKind::Sockets if named.is_none() && !wishes.is_named => {
            return Err(format!(
                "btl/tcp serves the system's sockets: `--mca btl_uct_transports {transport}` takes it all the same"
            ));
        }
        _ => {}
    }
    let listed = place_in("btl_uct_devices", wishes.devices, |name| name == device);
    let is_network = *kind == DeviceKind::Network;
    // Only networks have devices to choose from.
    let listed = if is_network { listed? } else { listed.unwrap_or(None) };
    let is_loopback = transport_kind == TransportKind::Sockets && device == "lo";
    if is_loopback && !wishes.one_node && listed.is_none() {
        return Err(String::from("it reaches this node alone"));
    }
    Ok(Rank {
        transport: named.unwrap_or(0),
        device: listed.unwrap_or(0),
        kind: transport_kind,
        hardware: HARDWARE.iter().position(|name| name == transport).unwrap_or(HARDWARE.len()),
        is_distant: wishes.one_node && is_network && !is_loopback,
    })
}

/// Of one card's transports the better ones first.
const HARDWARE: &[&str] = &["dc_mlx5", "ud_mlx5", "ud_verbs"];
