//! Which processors each rank may use: the system's topology, and what `--bind-to` makes of it.

use crate::refusal::Refusal;
use rustix::thread::CpuSet;
use std::collections::BTreeMap;

/// What `--bind-to` asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    unit: Unit,
    /// Units of each rank.
    processors: usize,
    /// The word was understood as something near it: what to say about that.
    pub note: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    None,
    Hwthread,
    Core,
    Socket,
    Numa,
}

impl Binding {
    /// For the word after `--bind-to`, with its modifiers, and the `PE=` of `--map-by`.
    pub fn new(text: Option<&str>, processors: usize) -> Result<Binding, Refusal> {
        // PE=2 without a word binds to cores, as it does in Open MPI.
        let text = text.unwrap_or(if processors > 1 { "core" } else { "none" });
        let wrong = || Refusal::usage(format!("--bind-to {text}: core, hwthread, socket, numa or none is wanted"));
        let mut words = text.split(':');
        let word = words.next().unwrap_or_default();
        // Both are how this mpirun does it anyway: several ranks may share a core, and what is refused is said.
        if words.any(|modifier| !matches!(modifier, "overload-allowed" | "if-supported")) {
            return Err(wrong());
        }
        let (unit, near) = match word {
            "none" => (Unit::None, None),
            "hwthread" => (Unit::Hwthread, None),
            "core" => (Unit::Core, None),
            "socket" | "package" => (Unit::Socket, None),
            "numa" => (Unit::Numa, None),
            "l1cache" | "l2cache" => (Unit::Core, Some("core")),
            "l3cache" => (Unit::Socket, Some("socket")),
            "board" | "machine" => (Unit::None, Some("none: there is one machine")),
            _ => return Err(wrong()),
        };
        let note = near.map(|near| format!("--bind-to {word} is taken as {near}"));
        Ok(Binding { unit, processors, note })
    }

    /// Sets of processors that the ranks take in turn; none if they may run anywhere.
    pub fn sets(&self) -> Result<Vec<Vec<usize>>, Refusal> {
        let usable = usable();
        let units = match self.unit {
            Unit::None => return Ok(Vec::new()),
            Unit::Hwthread => usable.iter().map(|processor| vec![*processor]).collect(),
            Unit::Core => grouped(&usable, |processor| topology(processor, "thread_siblings_list")),
            Unit::Socket => grouped(&usable, |processor| topology(processor, "physical_package_id")),
            Unit::Numa => {
                let nodes = numa_nodes();
                grouped(&usable, |processor| {
                    nodes.iter().position(|node| node.contains(&processor)).map(|node| node.to_string())
                })
            }
        };
        if units.len() < self.processors {
            return Err(Refusal::usage(format!(
                "--map-by …:PE={}: this process may use {} {}s only",
                self.processors,
                units.len(),
                self.name()
            )));
        }
        Ok(units.chunks_exact(self.processors).map(<[_]>::concat).collect())
    }

    /// One line per rank.
    pub fn report(&self, ranks: u32, sets: &[Vec<usize>]) -> Vec<String> {
        let mut lines: Vec<String> = self.note.iter().cloned().collect();
        for rank in 0..ranks {
            lines.push(match sets.len() {
                0 => format!("rank {rank} is not bound and may use processors {}", list(&usable())),
                count => {
                    let index = rank as usize % count;
                    let (name, set) = (self.name(), list(&sets[index]));
                    match self.processors {
                        1 => format!("rank {rank} is bound to {name} {index} (processors {set})"),
                        several => {
                            let (first, last) = (index * several, (index + 1) * several - 1);
                            format!("rank {rank} is bound to {name}s {first}-{last} (processors {set})")
                        }
                    }
                }
            });
        }
        if !sets.is_empty() && ranks as usize > sets.len() {
            lines.push(format!("there are {ranks} ranks and {} places to bind them to, so some share one", sets.len()));
        }
        lines
    }

    fn name(&self) -> &'static str {
        match self.unit {
            Unit::None => "processor",
            Unit::Hwthread => "hardware thread",
            Unit::Core => "core",
            Unit::Socket => "socket",
            Unit::Numa => "NUMA node",
        }
    }
}

/// Processors that this process may run on.
fn usable() -> Vec<usize> {
    let set = rustix::thread::sched_getaffinity(None);
    set.map_or_else(|_| Vec::new(), |set| (0..CpuSet::MAX_CPU).filter(|processor| set.is_set(*processor)).collect())
}

/// In the order of their first processor. One that the system says nothing of is a group of its own.
fn grouped(usable: &[usize], key: impl Fn(usize) -> Option<String>) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut known = BTreeMap::new();
    for processor in usable {
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

fn numa_nodes() -> Vec<Vec<usize>> {
    let read = |node: usize| std::fs::read_to_string(format!("/sys/devices/system/node/node{node}/cpulist"));
    (0..).map_while(|node| read(node).ok()).map(|text| ranges(text.trim())).collect()
}

/// `0-3,8` as the kernel writes it.
fn ranges(text: &str) -> Vec<usize> {
    let range = |part: &str| -> Option<std::ops::RangeInclusive<usize>> {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.parse().ok()?..=last.parse().ok()?)
    };
    text.split(',').filter_map(range).flatten().collect()
}

fn list(processors: &[usize]) -> String {
    processors.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_the_kernel() {
        assert_eq!(ranges("0-2,8,10-11"), [0, 1, 2, 8, 10, 11]);
        assert_eq!(ranges(""), [0; 0]);
    }

    #[test]
    fn groups_keep_the_order() {
        let parity = |processor: usize| (processor != 4).then(|| (processor % 2).to_string());
        assert_eq!(grouped(&[1, 2, 3, 4, 6], parity), [vec![1, 3], vec![2, 6], vec![4]]);
    }

    #[test]
    fn words() {
        assert!(Binding::new(None, 1).unwrap().sets().unwrap().is_empty());
        let threads = Binding::new(Some("hwthread"), 1).unwrap().sets().unwrap();
        assert_eq!(threads.concat(), usable());
        assert_eq!(threads.len(), usable().len());
        for word in ["core", "socket", "numa", "core:overload-allowed"] {
            let mut all = Binding::new(Some(word), 1).unwrap().sets().unwrap().concat();
            all.sort_unstable();
            assert_eq!(all, usable(), "{word}");
        }
        let near = Binding::new(Some("l3cache"), 1).unwrap();
        assert!(near.report(1, &[vec![0]])[0].contains("l3cache is taken as socket"));
        assert!(Binding::new(Some("hwthread"), 100_000).unwrap().sets().is_err());
        assert!(Binding::new(Some("core:whenever"), 1).is_err());
    }
}
