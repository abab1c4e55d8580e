//! Hosts that each of several programs names for itself: `-n 2 -H a x : -n 1 -H b y`.

use super::hosts::{self, Host};
use super::options::{Options, read};
use super::split::Part;
use crate::refusal::Refusal;
use orte_core::rmaps::Room;

/// The hosts of a program in its order: the place of each among those of the job, and how many ranks it has room for.
pub type Rooms = Vec<(u32, Room)>;

/// Of each program its hosts; `None` of one that names none. Empty where only the first program names hosts: those hold for the whole
/// job.
pub fn rooms(parts: &[Part], whole: &Options, all: &[Host]) -> Result<Vec<Option<Rooms>>, Refusal> {
    let own: Vec<Options> = parts.iter().map(|part| read(&part.options)).collect::<Result<_, _>>()?;
    let names_hosts = |one: &Options| !one.host.is_empty() || !one.hostfile.is_empty();
    if !own.iter().skip(1).any(names_hosts) {
        return Ok(Vec::new());
    }
    own.iter().map(|one| if names_hosts(one) { of_program(one, whole, all).map(Some) } else { Ok(None) }).collect()
}

fn of_program(one: &Options, whole: &Options, all: &[Host]) -> Result<Rooms, Refusal> {
    // Hosts such as +n1 may be counted in a file that stands with another program.
    let is_counted = one.host.iter().any(|list| list.split(',').any(|word| word.trim().starts_with('+')));
    let files = if is_counted { &whole.hostfile } else { &one.hostfile };
    let own = hosts::named(&one.host, files, false)?.unwrap_or_default();
    // The job has the hosts of all its programs.
    let place = |host: &Host| all.iter().position(|its| its.is_same(host)).map(|place| (place as u32, host.room));
    Ok(own.iter().filter_map(place).collect())
}

/// What is left of the rooms of a job after these ranks, for programs that name no hosts.
pub fn left(rooms: &[Room], map: &[u32]) -> Rooms {
    let left = |(place, room): (u32, &Room)| {
        let ranks = map.iter().filter(|host| **host == place).count() as u32;
        let most = room.most.map(|most| most.saturating_sub(ranks));
        (place, Room { slots: room.slots.saturating_sub(ranks), most })
    };
    (0..).zip(rooms).map(left).collect()
}
