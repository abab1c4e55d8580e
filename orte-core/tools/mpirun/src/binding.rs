//! Which processors each rank may use: what `--bind-to`, `--map-by` and their relatives make of the machine.

use crate::cli::{self, Map, Unit};
use crate::refusal::Refusal;
use crate::topology::{self, Group, Topology, list};

/// What `--bind-to` asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// `None`: ranks run anywhere.
    pub unit: Option<Unit>,
    /// Several ranks on one unit are nothing to speak of.
    pub overload: bool,
    /// Say which cores each rank may use.
    pub report: bool,
}

/// Where one rank runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Its processors; none: anywhere.
    pub processors: Vec<usize>,
    /// What they are called; empty if they are no unit.
    pub name: String,
}

impl Binding {
    /// For the word after `--bind-to`, with its modifiers.
    pub fn new(text: Option<&str>, map: &Map) -> Result<Binding, Refusal> {
        // PE=N without a word binds to cores, as it does in Open MPI.
        let counted = if map.hwthreads { "hwthread" } else { "core" };
        let text = text.unwrap_or(if map.has_count { counted } else { "none" });
        let wrong = |what: &str| {
            Refusal::usage(format!(
                "--bind-to {text}: {what}; core, hwthread, l1cache, l2cache, l3cache, socket, numa or none is wanted, with \
                 :overload-allowed"
            ))
        };
        let mut words = text.split(':');
        let word = words.next().unwrap_or_default().to_ascii_lowercase();
        let mut binding = Binding { unit: None, overload: map.oversubscribe == Some(true), report: false };
        for modifier in words {
            match modifier.to_ascii_lowercase().as_str() {
                "overload-allowed" | "overload" => binding.overload = true,
                // What cannot be bound is said in any case.
                "if-supported" | "no-overload" => {}
                "report" => binding.report = true,
                _ => return Err(wrong(&format!("`{modifier}` is not known"))),
            }
        }
        binding.unit = match word.as_str() {
            "none" | "slot" => None,
            word => Some(cli::unit(word).ok_or_else(|| wrong(&format!("`{word}` is not known")))?),
        };
        // There is one machine.
        binding.unit = binding.unit.filter(|unit| *unit != Unit::Node);
        Ok(binding)
    }
}

/// The places of all ranks, and what is worth a word about them.
pub fn places(
    binding: &Binding,
    map: &Map,
    topology: &Topology,
    ranks: u32,
) -> Result<(Vec<Place>, Vec<String>), Refusal> {
    let ranks = ranks as usize;
    let Some(unit) = binding.unit else { return Ok((unbound(map, topology, ranks)?, Vec::new())) };
    let objects = objects(map, unit, topology)?;
    let units = topology.groups(unit)?;
    let mut dealt = Dealt::new(map, objects.len(), ranks);
    let mut users = vec![0; units.len()];
    let mut places = Vec::with_capacity(ranks);
    for _ in 0..ranks {
        let (object, index) = dealt.next();
        let inside = |unit: &Group| unit.processors.iter().any(|one| objects[object].processors.contains(one));
        let candidates: Vec<usize> = (0..units.len()).filter(|number| inside(&units[*number])).collect();
        let sets = candidates.len() / map.processors;
        if sets == 0 {
            return Err(Refusal::usage(format!(
                "--map-by ...:PE={}: this process may use {} {}s only",
                map.processors,
                candidates.len(),
                topology::name(unit)
            )));
        }
        let first = index % sets * map.processors;
        let chosen = &candidates[first..first + map.processors];
        chosen.iter().for_each(|number| users[*number] += 1);
        places.push(place(unit, chosen.iter().map(|number| &units[*number])));
    }
    let count = units.iter().zip(&users).filter(|(unit, users)| **users > capacity(unit, topology)).count();
    let note = format!(
        "there are {ranks} ranks and {} {}s to bind them to, so some share one; leave --bind-to out or add \
         :overload-allowed to it",
        units.len(),
        topology::name(unit)
    );
    let notes = (count > 0 && !binding.overload).then_some(note).into_iter().collect();
    Ok((places, notes))
}

/// Without `--bind-to`: only what `--cpu-set` leaves, or a processor each of an ordered list.
fn unbound(map: &Map, topology: &Topology, ranks: usize) -> Result<Vec<Place>, Refusal> {
    let Some(only) = &map.only else { return Ok(vec![Place::default(); ranks]) };
    if !map.ordered {
        return Ok(vec![Place { processors: topology.usable.clone(), name: String::new() }; ranks]);
    }
    if ranks > only.len() {
        return Err(Refusal::usage(format!(
            "--map-by pe-list=...:ordered names {} processors for {ranks} ranks; name one for each",
            only.len()
        )));
    }
    let own = only.iter().map(|processor| Place { processors: vec![*processor], name: String::new() });
    Ok(own.take(ranks).collect())
}

/// What ranks are dealt to: the units of `--map-by`. Where these are no larger than what a rank is bound to, or than the
/// cores it gets, the ranks simply follow one another, unless each of them is to be filled first.
fn objects(map: &Map, bound: Unit, topology: &Topology) -> Result<Vec<Group>, Refusal> {
    let is_small = matches!((map.unit, bound), (Unit::Hwthread, _) | (Unit::Core, Unit::Core | Unit::Hwthread));
    let in_turn = map.per_unit.is_none() && !(map.fill && map.processors == 1);
    let groups = match is_small && in_turn && (map.processors > 1 || map.unit == bound) {
        true => topology.groups(Unit::Node)?,
        false => topology.groups(map.unit)?,
    };
    match groups.is_empty() {
        true => Err(Refusal::system("binding ranks", "the system names no processor that may be used")),
        false => Ok(groups),
    }
}

/// More ranks than that on a unit share a core.
fn capacity(unit: &Group, topology: &Topology) -> usize {
    let cores = topology.groups(Unit::Core).unwrap_or_default();
    let inside = cores.iter().filter(|core| core.processors.iter().any(|one| unit.processors.contains(one)));
    inside.count().max(1)
}

fn place<'a>(unit: Unit, units: impl Iterator<Item = &'a Group>) -> Place {
    let units: Vec<&Group> = units.collect();
    let name = topology::name(unit);
    let name = match units.as_slice() {
        [one] => format!("{name} {}", one.number),
        several => {
            let numbers: Vec<usize> = several.iter().map(|unit| unit.number).collect();
            format!("{name}s {}", list(&numbers))
        }
    };
    Place { processors: units.iter().flat_map(|unit| unit.processors.iter().copied()).collect(), name }
}

/// Deals ranks to objects: each one's object, and how many it had before.
struct Dealt {
    order: Vec<usize>,
    had: Vec<usize>,
    next: usize,
}

impl Dealt {
    fn new(map: &Map, objects: usize, ranks: usize) -> Dealt {
        let mut order: Vec<usize> = match map.per_unit {
            Some(per_unit) => (0..ranks).map(|rank| rank / per_unit as usize % objects).collect(),
            None => (0..ranks).map(|rank| rank % objects).collect(),
        };
        if map.fill {
            order.sort_unstable();
        }
        Dealt { order, had: vec![0; objects], next: 0 }
    }

    fn next(&mut self) -> (usize, usize) {
        let object = self.order[self.next];
        self.next += 1;
        self.had[object] += 1;
        (object, self.had[object] - 1)
    }
}

/// One line per rank; `ranks` are those that have these places.
pub fn report(ranks: &[u32], places: &[Place], topology: &Topology) -> Vec<String> {
    let mut lines: Vec<String> = confined(topology).into_iter().collect();
    for (rank, place) in ranks.iter().zip(places) {
        let set = list(&place.processors);
        lines.push(match (place.processors.is_empty(), place.name.as_str()) {
            (true, _) => format!("rank {rank} is not bound and may use processors {}", list(&topology.usable)),
            (false, "") => format!("rank {rank} is bound to processors {set}"),
            (false, name) => format!("rank {rank} is bound to {name} (processors {set})"),
        });
    }
    lines
}

/// Whether somebody outside leaves only a part of the machine.
pub fn confined(topology: &Topology) -> Option<String> {
    let allowed = topology::allowed();
    (allowed.len() < topology.online.len()).then(|| {
        format!(
            "mpirun was started with processors {} of {} only (taskset or a cpuset), so the ranks get no others",
            list(&allowed),
            list(&topology.online)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four cores, named after what the system says of none of them: each is a unit of its own.
    fn machine() -> Topology {
        let processors: Vec<usize> = (900..904).collect();
        Topology { online: processors.clone(), usable: processors }
    }

    fn map(unit: Unit) -> Map {
        Map {
            unit,
            per_unit: None,
            processors: 1,
            hwthreads: false,
            fill: false,
            only: None,
            ordered: false,
            oversubscribe: None,
            rankfile: None,
            sequence: None,
            by_node: false,
            counted_by_node: None,
            has_count: false,
        }
    }

    fn bound(text: &str, map: &Map, ranks: u32) -> (Vec<Vec<usize>>, Vec<String>) {
        let binding = Binding::new(Some(text), map).unwrap();
        let (places, notes) = places(&binding, map, &machine(), ranks).unwrap();
        (places.into_iter().map(|place| place.processors).collect(), notes)
    }

    #[test]
    fn ranks_take_cores_in_turn() {
        let (sets, notes) = bound("core", &map(Unit::Node), 3);
        assert_eq!((sets, notes.len()), (vec![vec![900], vec![901], vec![902]], 0));
        let (sets, notes) = bound("core", &map(Unit::Core), 5);
        assert_eq!((sets[4].as_slice(), notes.len()), (&[900][..], 1));
        assert!(bound("core:overload-allowed", &map(Unit::Core), 5).1.is_empty());
        let pairs = Map { processors: 2, ..map(Unit::Core) };
        assert_eq!(bound("core", &pairs, 3).0, [[900, 901], [902, 903], [900, 901]]);
    }

    #[test]
    fn ranks_are_dealt_to_objects() {
        let twice = Map { per_unit: Some(2), ..map(Unit::Core) };
        assert_eq!(bound("core:overload-allowed", &twice, 4).0, [[900], [900], [901], [901]]);
        let fill = Map { fill: true, ..map(Unit::Core) };
        assert_eq!(bound("core:overload-allowed", &fill, 5).0, [[900], [900], [901], [902], [903]]);
        let fill = Map { fill: true, ..map(Unit::Package) };
        assert_eq!(bound("core:overload-allowed", &fill, 6).0, [[900], [900], [901], [901], [902], [903]]);
        assert_eq!(bound("core:overload-allowed", &map(Unit::Package), 6).0[4..], [[900], [901]]);
    }

    #[test]
    fn words() {
        let unbound = Binding::new(None, &map(Unit::Node)).unwrap();
        assert_eq!(unbound.unit, None);
        for (word, unit) in [("L3CACHE", Unit::Cache(3)), ("package", Unit::Package), ("hwthread", Unit::Hwthread)] {
            assert_eq!(Binding::new(Some(word), &map(Unit::Node)).unwrap().unit, Some(unit));
        }
        assert!(Binding::new(Some("core:whenever"), &map(Unit::Node)).is_err());
        let many = Map { processors: 100_000, ..map(Unit::Node) };
        let binding = Binding::new(Some("hwthread"), &many).unwrap();
        assert!(places(&binding, &many, &machine(), 1).unwrap_err().sentence.contains("PE=100000"));
    }
}
