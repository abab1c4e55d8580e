//! `--rankfile`: a line `rank N=HOST slot=LIST` for each rank, where the list names cores (`0,2-3`), cores of a socket
//! (`0:1-2`) or, behind a `p`, processors as the system numbers them.

use crate::binding::Place;
use crate::cli::{self, Unit};
use crate::own_host::is_here;
use crate::refusal::Refusal;
use crate::topology::{Group, Topology, list};
use std::path::Path;

/// The place of each rank, in order.
pub fn read(path: &Path, topology: &Topology) -> Result<Vec<Place>, Refusal> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Refusal::usage(format!("--rankfile {}: {error}", path.display())))?;
    let mut places: Vec<Option<Place>> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let from = format!("{}, line {}", path.display(), index + 1);
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let (rank, place) = read_line(line, topology).map_err(|why| Refusal::usage(format!("{from}: {why}")))?;
        places.resize(places.len().max(rank + 1), None);
        if places[rank].replace(place).is_some() {
            return Err(Refusal::usage(format!("{from}: rank {rank} stands twice")));
        }
    }
    let missing = places.iter().position(Option::is_none);
    match (missing, places.len()) {
        (Some(rank), _) => Err(Refusal::usage(format!("--rankfile {}: rank {rank} is missing", path.display()))),
        (None, 0) => Err(Refusal::usage(format!("--rankfile {}: it names no rank", path.display()))),
        (None, _) => Ok(places.into_iter().flatten().collect()),
    }
}

fn read_line(line: &str, topology: &Topology) -> Result<(usize, Place), String> {
    let form = "a line is written `rank N=localhost slot=CORES`";
    let (rank, rest) = line.strip_prefix("rank ").and_then(|rest| rest.split_once('=')).ok_or(form)?;
    let (host, slot) = rest.trim().split_once(char::is_whitespace).ok_or(form)?;
    let slot = slot.trim().strip_prefix("slot").and_then(|rest| rest.trim_start().strip_prefix('=')).ok_or(form)?;
    let rank = rank.trim().parse().ok().filter(|rank| *rank < 1024).ok_or(form)?;
    // `+n0` is Open MPI's first machine.
    if host != "+n0" && !is_here(host) {
        return Err(format!(
            "{host} is not this machine ({}), and a rankfile for several hosts is not there yet; --host and --map-by place ranks \
             on other hosts",
            opal_core::sys::hostname()
        ));
    }
    Ok((rank, place(slot.trim(), topology)?))
}

fn place(slot: &str, topology: &Topology) -> Result<Place, String> {
    let numbers = |list: &str| cli::processors("slot", list).map_err(|refusal| refusal.sentence);
    let groups = |unit| topology.groups(unit).map_err(|refusal| refusal.sentence);
    if let Some(list) = slot.strip_prefix('p') {
        let processors = numbers(list)?;
        return match processors.iter().find(|one| !topology.usable.contains(one)) {
            Some(stranger) => Err(format!("slot={slot}: processor {stranger} cannot be used here")),
            None => Ok(Place { processors, name: String::new() }),
        };
    }
    let cores = groups(Unit::Core)?;
    let (cores, wanted): (Vec<Group>, Vec<usize>) = match slot.split_once(':') {
        None => (cores, numbers(slot)?),
        Some((socket, list)) => {
            let socket: usize = socket.parse().map_err(|_| format!("slot={slot}: `{socket}` is no socket"))?;
            let sockets = groups(Unit::Package)?;
            let socket = sockets.iter().find(|one| one.number == socket);
            let socket = socket
                .ok_or_else(|| format!("slot={slot}: there is no socket {}", slot.split(':').next().unwrap_or("")))?;
            let inside = |core: &Group| core.processors.iter().any(|one| socket.processors.contains(one));
            let inside: Vec<Group> = cores.into_iter().filter(inside).collect();
            let wanted = if list == "*" { (0..inside.len()).collect() } else { numbers(list)? };
            // Cores of a socket are counted within it.
            let counted = inside.into_iter().enumerate();
            (counted.map(|(number, core)| Group { number, ..core }).collect(), wanted)
        }
    };
    let mut processors = Vec::new();
    for number in &wanted {
        let core = cores.iter().find(|core| core.number == *number);
        let core = core.ok_or_else(|| format!("slot={slot}: there is no core {number} that may be used"))?;
        processors.extend_from_slice(&core.processors);
    }
    Ok(Place { processors, name: format!("core {}", list(&wanted)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines() {
        let topology = Topology { online: vec![900, 901, 902], usable: vec![900, 902] };
        let read = |line| read_line(line, &topology);
        assert_eq!(read("rank 3=localhost slot=0,2").unwrap().1.processors, [900, 902]);
        assert_eq!(read("rank 0=+n0 slot=p902").unwrap(), (0, Place { processors: vec![902], name: String::new() }));
        for (line, words) in [
            ("rank 0=localhost slot=1", "no core 1"),
            ("rank 0=localhost slot=p901", "processor 901"),
            ("rank 0=node17.invalid slot=0", "node17.invalid"),
            ("rank x=localhost slot=0", "a line is written"),
            ("0 localhost", "a line is written"),
            ("rank 0=localhost slot=one", "one"),
        ] {
            assert!(read(line).unwrap_err().contains(words), "{line}");
        }
    }
}
