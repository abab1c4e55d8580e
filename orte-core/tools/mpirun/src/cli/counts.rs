//! How many ranks a job has, and how many it may have.

use super::app::App;
use super::environment;
use super::hosts::{self, Host};
use super::map::Map;
use super::options::Options;
use super::own_hosts;
use super::split::Part;
use super::values;
use crate::rankfile::{self, RankLine};
use crate::refusal::Refusal;
use crate::topology::Topology;
use orte_core::allocation::ResourceManager;
use orte_core::oob::compact::JOB_MAX;
use orte_core::rmaps::{self, Policy, Room};
use orte_core::segment::layout::RANKS_MAX;
use std::path::PathBuf;

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
    /// The host of each rank, where a file or a sequence says it.
    order: Option<Vec<u32>>,
    /// The slot of each rank in a `--rankfile`.
    pub slots: Vec<String>,
    /// What named the hosts, for people.
    from: String,
    /// See [`own_hosts::rooms`].
    own: Vec<Option<own_hosts::Rooms>>,
}

impl Counts {
    /// Reads the options: those of the job, and the hosts that single programs name.
    pub fn new(whole: &Options, parts: &[Part], map: &Map, topology: &Topology) -> Result<Counts, Refusal> {
        let mut files = whole.hostfile.clone();
        if whole.host.is_empty() && files.is_empty() {
            files.extend(whole.default_hostfile.clone().or_else(environment::default_hostfile));
        }
        let here = || Host::own(topology.usable.len() as u32);
        let Named { hosts, order, slots: places, from } = named(whole, map, &files, here)?;
        let own = own_hosts::rooms(parts, whole, &hosts)?;
        let count = hosts.len() as u32;
        let slots = slots_of(&hosts);
        let mut policy = if map.by_node { Policy::Node } else { Policy::Slot };
        let mut most = None;
        if let Some(text) = &whole.npernode {
            policy = Policy::PerNode(values::ranks(text)?);
            most = Some((values::ranks(text)?.saturating_mul(count), "-npernode".to_owned()));
        } else if let Some(text) = &whole.ppn {
            policy = Policy::InTurn(values::ranks(text)?);
        } else if let Some(per_unit) = map.per_unit {
            // Other hosts are taken to be as this one; their daemons look.
            let units = topology.groups(map.unit)?.len() as u32;
            policy = Policy::PerNode(per_unit.saturating_mul(units));
            most = Some((per_unit.saturating_mul(units).saturating_mul(count), "N of ppr:N".to_owned()));
        } else if let Some(order) = &order {
            let what = if places.is_empty() { "what --map-by seq reads" } else { "--rankfile" };
            most = Some((order.len() as u32, format!("the number of lines in {what}")));
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
            order,
            slots: places,
            from,
            own,
        })
    }

    /// The host of each rank, by its place among [`Counts::hosts`].
    pub fn map(&self, apps: &[App]) -> Result<Vec<u32>, Refusal> {
        let rooms: Vec<Room> = self.hosts.iter().map(|host| host.room).collect();
        let total: u32 = apps.iter().map(|app| app.ranks).sum();
        if let Some(order) = &self.order {
            // [`Counts::check`] was there.
            return self.fitting(order[..total as usize].to_vec());
        }
        if self.own.is_empty() {
            return self.fitting(self.dealt(&rooms, total)?);
        }
        let mut map = Vec::new();
        for (app, own) in apps.iter().zip(&self.own) {
            let own = own.clone().unwrap_or_else(|| own_hosts::left(&rooms, &map));
            let (places, rooms): (Vec<u32>, Vec<Room>) = own.into_iter().unzip();
            map.extend(self.dealt(&rooms, app.ranks)?.into_iter().map(|host| places[host as usize]));
        }
        self.fitting(map)
    }

    /// The hosts of so many ranks where there is this room.
    fn dealt(&self, rooms: &[Room], ranks: u32) -> Result<Vec<u32>, Refusal> {
        let map = match rooms {
            // On the job's one host the number of ranks was looked at already.
            [one] if one.most.is_none() && self.own.is_empty() => vec![0; ranks as usize],
            _ => rmaps::map(rooms, ranks, self.policy, self.only_slots)
                .map_err(|why| Refusal::usage(format!("{why}; --host and --hostfile say how many slots there are")))?,
        };
        Ok(self.counted_by_node.map_or(map.clone(), |by_node| rmaps::count(&map, by_node)))
    }

    /// Slots of all hosts together.
    pub fn all_slots(&self) -> u32 {
        slots_of(&self.hosts)
    }

    /// The map, unless a host has more ranks than one segment can hold.
    fn fitting(&self, map: Vec<u32>) -> Result<Vec<u32>, Refusal> {
        let mut ranks = vec![0u32; self.hosts.len()];
        map.iter().for_each(|host| ranks[*host as usize] += 1);
        match self.hosts.iter().zip(ranks).find(|(_, ranks)| *ranks > RANKS_MAX) {
            None => Ok(map),
            Some((host, ranks)) => Err(Refusal::usage(format!(
                "{ranks} ranks would run on {}; a host has at most {RANKS_MAX}: name more hosts, or spread the ranks with \
                 --map-by node",
                host.name
            ))),
        }
    }

    /// What was decided and why, a sentence each.
    pub fn explain(&self, whole: &Options, total: u32) -> Vec<String> {
        vec![
            format!("hosts and slots come from {}", self.from),
            format!("there are {total} ranks: {}", self.reason(whole)),
            self.policy_words(),
        ]
    }

    /// Why there are so many ranks, as half a sentence.
    fn reason(&self, whole: &Options) -> String {
        match (&whole.np, &self.most, self.policy) {
            (Some(_), ..) => "-n says so".to_owned(),
            (None, Some((_, option)), _) => format!("{option} says so"),
            (None, None, Policy::InTurn(each)) => format!("-ppn {each} on each host"),
            (None, None, _) => "one for each slot".to_owned(),
        }
    }

    /// How ranks are dealt to hosts, as a sentence.
    fn policy_words(&self) -> String {
        let dealt = match (&self.order, self.policy) {
            (Some(_), _) => "as the lines say".to_owned(),
            (None, Policy::Slot) => "one host after the other, as many as it has slots (--map-by slot)".to_owned(),
            (None, Policy::Node) => "to the hosts in turn, while they have slots (--map-by node)".to_owned(),
            (None, Policy::PerNode(each)) => format!("one host after the other, {each} on each"),
            (None, Policy::InTurn(each)) => format!("to the hosts in turn, {each} at once"),
        };
        format!("ranks are dealt {dealt}")
    }

    /// The ranks of all programs, unless these are too many.
    pub fn check(&self, apps: &[App]) -> Result<u32, Refusal> {
        let total: u64 = apps.iter().map(|app| u64::from(app.ranks)).sum();
        let (most, whose) = if self.hosts.len() > 1 { (JOB_MAX, "a job") } else { (RANKS_MAX, "a host") };
        if total > u64::from(most) {
            return Err(Refusal::usage(format!(
                "the programs have {total} ranks together; {whose} has at most {most}"
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

fn slots_of(hosts: &[Host]) -> u32 {
    hosts.iter().fold(0, |sum, host| sum.saturating_add(host.room.slots))
}

/// The hosts of a job, and what a file says of single ranks.
struct Named {
    hosts: Vec<Host>,
    order: Option<Vec<u32>>,
    slots: Vec<String>,
    from: String,
}

fn named(whole: &Options, map: &Map, files: &[PathBuf], here: impl Fn() -> Host) -> Result<Named, Refusal> {
    if let Some(file) = &map.sequence {
        let own: Vec<PathBuf> = file.iter().cloned().collect();
        let (hosts, order) = match own.is_empty() {
            true => hosts::sequence(&whole.host, files)?,
            false => hosts::sequence(&[], &own)?,
        };
        if hosts.is_empty() {
            return Err(Refusal::usage(
                "--map-by seq: nothing names the hosts of the ranks; write seq:file=FILE, --hostfile FILE or --host A,B,A",
            ));
        }
        return Ok(Named { hosts, order: Some(order), slots: Vec::new(), from: "--map-by seq".to_owned() });
    }
    let (given, from) = match hosts::named(&whole.host, files, whole.hostfile.is_empty())? {
        Some(hosts) => {
            let by = [(!whole.host.is_empty(), "--host"), (!files.is_empty(), "--hostfile")];
            let by: Vec<&str> = by.into_iter().filter(|(is_said, _)| *is_said).map(|(_, option)| option).collect();
            (Some(hosts), by.join(" and "))
        }
        None => match ResourceManager::of(&hosts::Own) {
            Some(manager) => (hosts::allocated(&hosts::Own)?, format!("the allocation of {}", manager.name())),
            None => (None, "nothing, so this machine is taken".to_owned()),
        },
    };
    let Some(path) = map.rankfile.as_deref() else {
        return Ok(Named { hosts: given.unwrap_or_else(|| vec![here()]), order: None, slots: Vec::new(), from });
    };
    of_rankfile(rankfile::read(path)?, given, here)
}

/// The hosts of a rankfile are those that options or a manager name; where nobody does, those of its lines.
fn of_rankfile(lines: Vec<RankLine>, given: Option<Vec<Host>>, here: impl Fn() -> Host) -> Result<Named, Refusal> {
    let is_fixed = given.is_some();
    let mut hosts = given.unwrap_or_default();
    let (mut order, mut slots) = (Vec::new(), Vec::new());
    for RankLine { host, slot, from } in lines {
        let place = match host.strip_prefix("+n") {
            Some(number) => {
                if hosts.is_empty() {
                    hosts.push(here());
                }
                number.parse().ok().filter(|place: &usize| *place < hosts.len())
            }
            None => {
                let named = Host::called(&host, 1, &from)?;
                let known = hosts.iter().position(|known| known.is_same(&named));
                known.or_else(|| {
                    (!is_fixed).then(|| {
                        hosts.push(named);
                        hosts.len() - 1
                    })
                })
            }
        };
        let Some(place) = place else {
            let names: Vec<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
            return Err(Refusal::usage(format!("{from}: {host} is none of the job's hosts: {}", names.join(", "))));
        };
        order.push(place as u32);
        slots.push(slot);
    }
    Ok(Named { hosts, order: Some(order), slots, from: "--rankfile".to_owned() })
}
