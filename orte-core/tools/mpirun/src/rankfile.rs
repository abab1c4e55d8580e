//! `--rankfile`: a line `rank N=HOST slot=LIST` for each rank. Its host finds the place; the list names cores (`0,2-3`), cores of a socket
//! (`0:1-2`) or, behind a `p`, processors as the system numbers them.

mod lines;

use crate::binding::Place;
use crate::cli::{self, Unit};
use crate::refusal::Refusal;
use crate::topology::{Group, Topology, list};
pub use lines::RankLine;
use std::path::Path;

/// The line of each rank, in order.
pub fn read(path: &Path) -> Result<Vec<RankLine>, Refusal> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Refusal::usage(format!("--rankfile {}: {error}", path.display())))?;
    lines::parse(&text, &path.display().to_string())
}

/// The places of ranks on this host.
pub fn places<'a>(slots: impl IntoIterator<Item = &'a str>, topology: &Topology) -> Result<Vec<Place>, String> {
    slots.into_iter().map(|slot| place(slot, topology)).collect()
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
        let read = |line| -> Result<(usize, &str, Place), String> {
            let (rank, host, slot) = lines::parts(line)?;
            Ok((rank, host, place(slot, &topology)?))
        };
        assert_eq!(read("rank 3=localhost slot=0,2").unwrap().2.processors, [900, 902]);
        let processor = Place { processors: vec![902], name: String::new() };
        assert_eq!(read("rank 0=+n0 slot=p902").unwrap(), (0, "+n0", processor.clone()));
        assert_eq!(read("rank 0=+n0 slots = p902").unwrap(), (0, "+n0", processor));
        for (line, words) in [
            ("rank 0=localhost slot=1", "no core 1"),
            ("rank 0=localhost slot=p901", "processor 901"),
            ("rank x=localhost slot=0", "a line is written"),
            ("0 localhost", "a line is written"),
            ("rank 0=localhost slot=one", "one"),
        ] {
            assert!(read(line).unwrap_err().contains(words), "{line}");
        }
    }
}
