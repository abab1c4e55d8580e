//! The processors of this machine and what they share (caches, packages, NUMA nodes), read from sysfs.

use crate::cli::{Unit, processors};
use crate::refusal::Refusal;
use rustix::thread::CpuSet;
use std::collections::BTreeMap;

/// Processors that ranks may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    /// All that the machine has running.
    pub online: Vec<usize>,
    /// Those that mpirun itself may run on, and its options do not leave out.
    pub usable: Vec<usize>,
}

/// One unit: its number among all of its kind, and its usable processors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Counted from 0 over the whole machine, whatever of it may be used.
    pub number: usize,
    /// At least one.
    pub processors: Vec<usize>,
}

impl Topology {
    /// Asks the system; `only` is what `--cpu-set` leaves.
    pub fn new(only: Option<&[usize]>) -> Result<Topology, Refusal> {
        let allowed = allowed();
        let usable = match only {
            None => allowed.clone(),
            Some(only) => {
                if let Some(stranger) = only.iter().find(|processor| !allowed.contains(processor)) {
                    let allowed = list(&allowed);
                    return Err(Refusal::usage(format!(
                        "--cpu-set: processor {stranger} cannot be used here; mpirun itself may use {allowed}"
                    )));
                }
                only.to_vec()
            }
        };
        let online = std::fs::read_to_string("/sys/devices/system/cpu/online").ok();
        let online = online.and_then(|text| processors("", text.trim()).ok()).unwrap_or(allowed);
        Ok(Topology { online, usable })
    }

    /// The units of a kind that have usable processors, in the order of their first one.
    pub fn groups(&self, unit: Unit) -> Result<Vec<Group>, Refusal> {
        let all = match unit {
            Unit::Node => vec![self.online.clone()],
            Unit::Hwthread => self.online.iter().map(|processor| vec![*processor]).collect(),
            Unit::Core => grouped(&self.online, |processor| topology(processor, "thread_siblings_list")),
            Unit::Package => grouped(&self.online, |processor| topology(processor, "physical_package_id")),
            Unit::Cache(level) => {
                if self.online.iter().any(|processor| cache(*processor, level).is_none()) {
                    return Err(Refusal::usage(format!(
                        "l{level}cache: the system does not say which processors share one; take core, socket or numa"
                    )));
                }
                grouped(&self.online, |processor| cache(processor, level))
            }
            Unit::Numa => {
                let nodes = numa_nodes();
                grouped(&self.online, |processor| {
                    nodes.iter().position(|node| node.contains(&processor)).map(|node| node.to_string())
                })
            }
        };
        let part = |(number, all): (usize, Vec<usize>)| {
            let processors: Vec<usize> = all.into_iter().filter(|one| self.usable.contains(one)).collect();
            (!processors.is_empty()).then_some(Group { number, processors })
        };
        Ok(all.into_iter().enumerate().filter_map(part).collect())
    }
}

/// What people call a unit.
pub fn name(unit: Unit) -> &'static str {
    match unit {
        Unit::Hwthread => "hardware thread",
        Unit::Core => "core",
        Unit::Cache(1) => "L1 cache",
        Unit::Cache(2) => "L2 cache",
        Unit::Cache(_) => "L3 cache",
        Unit::Numa => "NUMA node",
        Unit::Package => "socket",
        Unit::Node => "machine",
    }
}

/// `0,2,3`.
pub fn list(processors: &[usize]) -> String {
    processors.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}

/// Processors that this process may run on.
pub fn allowed() -> Vec<usize> {
    let set = rustix::thread::sched_getaffinity(None);
    set.map_or_else(|_| Vec::new(), |set| (0..CpuSet::MAX_CPU).filter(|processor| set.is_set(*processor)).collect())
}

/// In the order of their first processor. One that the system says nothing of is a group of its own.
fn grouped(processors: &[usize], key: impl Fn(usize) -> Option<String>) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut known = BTreeMap::new();
    for processor in processors {
        let index = match key(*processor) {
            Some(key) => *known.entry(key).or_insert(groups.len()),
            None => groups.len(),
        };
        if index == groups.len() {
            groups.push(Vec::new());
        }
        groups[index].push(*processor);
    }
    groups
}

fn topology(processor: usize, file: &str) -> Option<String> {
    let text = std::fs::read_to_string(format!("/sys/devices/system/cpu/cpu{processor}/topology/{file}")).ok()?;
    Some(text.trim().to_owned())
}

/// Which processors share a processor's cache of this level for data.
fn cache(processor: usize, level: u8) -> Option<String> {
    (0..10).find_map(|index| {
        let read = |file: &str| {
            let path = format!("/sys/devices/system/cpu/cpu{processor}/cache/index{index}/{file}");
            Some(std::fs::read_to_string(path).ok()?.trim().to_owned())
        };
        let is_it = read("level")? == level.to_string() && read("type")? != "Instruction";
        is_it.then(|| read("shared_cpu_list"))?
    })
}

fn numa_nodes() -> Vec<Vec<usize>> {
    let read = |node: usize| std::fs::read_to_string(format!("/sys/devices/system/node/node{node}/cpulist"));
    (0..).map_while(|node| read(node).ok()).map(|text| processors("", text.trim()).unwrap_or_default()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_keep_the_order() {
        let parity = |processor: usize| (processor != 4).then(|| (processor % 2).to_string());
        assert_eq!(grouped(&[1, 2, 3, 4, 6], parity), [vec![1, 3], vec![2, 6], vec![4]]);
    }

    #[test]
    fn every_usable_processor_is_in_one_unit_of_each_kind() {
        let topology = Topology::new(None).unwrap();
        for unit in [Unit::Hwthread, Unit::Core, Unit::Numa, Unit::Package, Unit::Node] {
            let groups = topology.groups(unit).unwrap();
            let mut all: Vec<usize> = groups.into_iter().flat_map(|group| group.processors).collect();
            all.sort_unstable();
            assert_eq!(all, topology.usable, "{unit:?}");
        }
    }

    #[test]
    fn a_confined_unit_keeps_its_number() {
        let topology = Topology { online: vec![4, 5, 6], usable: vec![6] };
        assert_eq!(topology.groups(Unit::Hwthread).unwrap(), [Group { number: 2, processors: vec![6] }]);
    }
}
