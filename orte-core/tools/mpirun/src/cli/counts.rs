//! How many ranks a job has, and how many it may have.

use super::app::App;
use super::hosts::{self, Host};
use super::map::{Map, Unit};
use super::options::Options;
use super::values;
use crate::binding::Place;
use crate::rankfile;
use crate::refusal::Refusal;
use crate::topology::Topology;
use orte_core::rmaps::{self, Policy, Room};
use orte_core::segment::layout::RANKS_MAX;

/// How many ranks there may be.
pub struct Counts {
    /// If nothing is said.
    pub default: u32,
    /// In the job; with the option that says so.
    pub most: Option<(u32, String)>,
    /// The hosts, with the slots that options name or a resource manager gave; without either this one, with its usable
    /// processors.
    pub hosts: Vec<Host>,
    policy: Policy,
    counted_by_node: Option<bool>,
    only_slots: bool,
    /// Places of a `--rankfile`.
    pub rankfile: Option<Vec<Place>>,
}

impl Counts {
    /// Reads the options.
    pub fn new(whole: &Options, map: &Map, topology: &Topology) -> Result<Counts, Refusal> {
        let mut files = whole.hostfile.clone();
        if whole.host.is_empty() && files.is_empty() {
            files.extend(whole.default_hostfile.clone());
        }
        let named = match hosts::named(&whole.host, &files, whole.hostfile.is_empty())? {
            None => hosts::allocated(&hosts::Own)?,
            named => named,
        };
        let here = || Host::own(topology.usable.len() as u32);
        let hosts = named.unwrap_or_else(|| vec![here()]);
        let count = hosts.len() as u32;
        let slots = hosts.iter().fold(0u32, |sum, host| sum.saturating_add(host.room.slots));
        let rankfile = map.rankfile.as_deref().map(|path| rankfile::read(path, topology)).transpose()?;
        let is_alone = hosts.iter().all(|host| host.is_here);
        let mut policy = if map.by_node { Policy::Node } else { Policy::Slot };
        let mut most = None;
        if let Some(text) = &whole.npernode {
            policy = Policy::PerNode(values::ranks(text)?);
            most = Some((values::ranks(text)?.saturating_mul(count), "-npernode".to_owned()));
        } else if let Some(text) = &whole.ppn {
            policy = Policy::InTurn(values::ranks(text)?);
        } else if let Some(per_unit) = map.per_unit {
            if !is_alone && map.unit != Unit::Node {
                return Err(Refusal::usage(
                    "--map-by ppr:N:OBJECT: with several hosts only ppr:N:node is there; --bind-to binds ranks on each of them",
                ));
            }
            let units = topology.groups(map.unit)?.len() as u32;
            policy = Policy::PerNode(per_unit.saturating_mul(units));
            most = Some((per_unit.saturating_mul(units).saturating_mul(count), "N of ppr:N".to_owned()));
        } else if let Some(places) = &rankfile {
            most = Some((places.len() as u32, "the number of lines in --rankfile".to_owned()));
        }
        if rankfile.is_some() && !is_alone {
            return Err(Refusal::usage(
                "--rankfile: for several hosts it is not there yet; leave --host and --hostfile out",
            ));
        }
        let only_slots = map.oversubscribe == Some(false);
        let limited = only_slots.then(|| (slots, "the slots (--host localhost:N)".to_owned()));
        let default = match policy {
            Policy::InTurn(each) => each.saturating_mul(count),
            _ => most.as_ref().map_or(slots, |(most, _)| *most),
        };
        Ok(Counts {
            default,
            most: most.or(limited),
            hosts,
            policy,
            counted_by_node: map.counted_by_node,
            only_slots,
            rankfile,
        })
    }

    /// The host of each rank, by its place among [`Counts::hosts`].
    pub fn map(&self, total: u32) -> Result<Vec<u32>, Refusal> {
        let rooms: Vec<Room> = self.hosts.iter().map(|host| host.room).collect();
        let map = match (&self.hosts[..], &self.rankfile) {
            // On one host the number of ranks on each was looked at already.
            ([one], _) if one.room.most.is_none() => vec![0; total as usize],
            (_, Some(_)) => vec![0; total as usize],
            _ => rmaps::map(&rooms, total, self.policy, self.only_slots)
                .map_err(|why| Refusal::usage(format!("{why}; --host and --hostfile say how many slots there are")))?,
        };
        Ok(self.counted_by_node.map_or(map.clone(), |by_node| rmaps::count(&map, by_node)))
    }

    /// The ranks of all programs, unless these are too many.
    pub fn check(&self, apps: &[App]) -> Result<u32, Refusal> {
        let total: u64 = apps.iter().map(|app| u64::from(app.ranks)).sum();
        if total > u64::from(RANKS_MAX) {
            return Err(Refusal::usage(format!(
                "the programs have {total} ranks together; a job has at most {RANKS_MAX}"
            )));
        }
        match &self.most {
            Some((most, option)) if total > u64::from(*most) => Err(Refusal::usage(format!(
                "{total} ranks are more than the {most} that fit on {}; raise {option} or leave it out, or name more machines \
                 with --host or --hostfile",
                if self.hosts.len() == 1 { "one machine".to_owned() } else { format!("{} machines", self.hosts.len()) }
            ))),
            _ => Ok(total as u32),
        }
    }
}
