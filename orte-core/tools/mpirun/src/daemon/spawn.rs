//! The daemons that this one starts, where mpirun does not log in to all hosts itself. They call mpirun as all do.

use super::call::VERSION;
use crate::agent::Agent;
use crate::link::Link;
use crate::tree::Process;
use orte_core::oob::{Frame, Invitation, Spawn};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// Agents that run, with their nodes.
#[derive(Default)]
pub struct Spawned(Vec<(u32, Agent)>);

impl Spawned {
    /// Starts an agent for each host.
    pub fn start(&mut self, spawn: &Spawn, own: &Invitation, link: &mut Link) {
        let Some(program) = spawn.words.first() else { return };
        for (node, host) in &spawn.hosts {
            let invitation = Invitation { hosts: vec![(*node, host.clone())], ..own.clone() }.encode(VERSION);
            match Agent::for_host(&spawn.words, OsStr::from_bytes(&spawn.command), host, &invitation) {
                Ok(agent) => self.0.push((*node, agent)),
                Err(error) => {
                    let why = format!("{program} cannot be started ({error})");
                    link.send(&Frame::AgentEnded(*node, 0, Some(why)));
                }
            }
        }
    }

    /// Says which ones have ended.
    pub fn look(&mut self, link: &mut Link) {
        self.0.retain_mut(|(node, agent)| {
            agent.look();
            agent.ended.map(|status| link.send(&Frame::AgentEnded(*node, status, None))).is_none()
        });
    }

    /// Ends that of a node.
    pub fn end(&mut self, node: u32) {
        self.0.iter_mut().filter(|(its, _)| *its == node).for_each(|(_, agent)| agent.end());
        self.0.retain(|(its, _)| *its != node);
    }

    /// They are no processes of the job.
    pub fn processes(&self) -> Vec<Process> {
        self.0.iter().filter_map(|(_, agent)| agent.process()).collect()
    }

    /// Their daemons are done, or end by themselves.
    pub fn end_all(&mut self) {
        self.0.iter_mut().for_each(|(_, agent)| agent.end());
    }
}
