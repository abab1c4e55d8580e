//! The daemons that this one starts, if there are more hosts than mpirun logs in to: they call here.

use super::call::VERSION;
use super::up::Up;
use crate::agent::Agent;
use crate::children::{Children, Entrance, Event, StartedBy};
use crate::refusal::Refusal;
use orte_core::oob::{Frame, Invitation, JobOrders};
use orte_core::routed::Tree;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::time::Duration;

/// The tree of the hosts of a job.
pub fn tree(orders: &JobOrders) -> Tree {
    Tree { nodes: orders.names.len() as u32, radix: orders.daemons.radix }
}

/// Whom this daemon starts.
pub struct Below {
    tree: Tree,
    node: u32,
    hosts: Vec<(u32, String)>,
    words: Vec<String>,
    command: Vec<u8>,
    include: String,
    exclude: String,
    ports: String,
    /// As they came: the children get the same.
    bytes: Vec<u8>,
}

impl Below {
    /// Of a node, from its orders and the bytes of these.
    pub fn new(node: u32, orders: &JobOrders, bytes: Vec<u8>) -> Below {
        let (tree, daemons) = (tree(orders), orders.daemons.clone());
        let hosts = tree.children(node).map(|child| (child, orders.names[child as usize].clone())).collect();
        let (words, command) = (daemons.words, daemons.command);
        let (include, exclude, ports) = (daemons.include, daemons.exclude, daemons.ports);
        Below { tree, node, hosts, words, command, include, exclude, ports, bytes }
    }

    /// Starts them.
    pub fn start(self, own: &Invitation, up: &mut Up) -> Result<Children, Refusal> {
        let silence = Duration::from_millis(own.silence_ms);
        let at = (self.tree, self.node);
        if self.hosts.is_empty() {
            return Ok(Children::new(at, None, Vec::new(), |_| StartedBy::Nobody, Vec::new(), silence));
        }
        let entrance = Entrance::open(own.secret, &self.include, &self.exclude, &self.ports)?;
        let Some(program) = self.words.first() else {
            // Whoever started this daemon starts them, too, and mpirun sends them here.
            up.send(&Frame::Entrance(entrance.addresses.iter().map(ToString::to_string).collect()));
            return Ok(Children::new(at, Some(entrance), Vec::new(), |_| StartedBy::Another, self.bytes, silence));
        };
        let (mut agents, mut started) = (Vec::new(), Vec::new());
        for (node, host) in &self.hosts {
            let addresses = entrance.addresses.clone();
            let invitation = Invitation { hosts: vec![(*node, host.clone())], addresses, ..own.clone() };
            match Agent::for_host(&self.words, OsStr::from_bytes(&self.command), host, &invitation.encode(VERSION)) {
                Ok(agent) => {
                    started.push(*node);
                    agents.push(agent);
                }
                Err(error) => {
                    let why = format!("{program} cannot be started ({error})");
                    up.send(&Frame::AgentEnded(*node, 0, Some(why)));
                }
            }
        }
        let started_by =
            |node: u32| started.iter().position(|its| *its == node).map_or(StartedBy::Nobody, StartedBy::Agent);
        Ok(Children::new(at, Some(entrance), agents, started_by, self.bytes, silence))
    }
}

/// What happened to them, as mpirun is told it; what is for this daemon itself is given back.
pub fn pass_on(events: Vec<Event>, up: &mut Up) -> Vec<(u32, Frame)> {
    let mut here = Vec::new();
    for event in events {
        match event {
            Event::Joined(node) => up.send(&Frame::Joined(node)),
            Event::Here(node, frame) => here.push((node, frame)),
            Event::Up(bytes) => up.pass(&bytes),
            Event::AgentEnded(node, status, _) => up.send(&Frame::AgentEnded(node, status, None)),
            Event::Resumed(node, ends) => up.send(&Frame::Resumed(node, ends)),
            Event::Lost(node, why) => up.send(&Frame::HostLost(node, why)),
        }
    }
    here
}
