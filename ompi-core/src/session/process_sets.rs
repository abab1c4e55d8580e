//! Process sets: named sets of processes of which a session makes groups. MPI 5.0 §11.3.2.
//!
//! | name | processes |
//! |---|---|
//! | `mpi://WORLD` | all of the job |
//! | `mpi://SELF` | this one |
//! | `mpi://SHARED` | those of the job on this process's node |
//! | `mpix://APP/n` | those of program n of the command line, as MPI_APPNUM counts |
//! | `mpirun://node/n` | those of node n |
//! | another one | those that `mpirun --pset` says |
//!
//! Letters of the names that begin with `mpi` count the same in both cases (MPI 5.0 §11.3.2).

use crate::error::{Class, Fault, Result};
use crate::group::Group;
use crate::info::Info;
use crate::parameters::PROCESS_SETS;
use crate::process;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use orte_core::framework::ess;

const WORLD: &str = "mpi://WORLD";
const SELF: &str = "mpi://SELF";
const SHARED: &str = "mpi://SHARED";
const APP: &str = "mpix://APP/";
const NODE: &str = "mpirun://node/";

/// The names of the process sets that this process is in. Indices stay what they are.
pub fn process_sets() -> Vec<String> {
    let mut names = Vec::from([WORLD, SELF, SHARED].map(String::from));
    if let Some(app) = ess::selected().and_then(|environment| environment.app_number()) {
        names.push(format!("{APP}{app}"));
    }
    names.push(format!("{NODE}{}", process::me().node()));
    let me = process::me().index;
    let of_user = sets(PROCESS_SETS.text()).filter(|(_, ranks)| contains(ranks, me));
    names.extend(of_user.map(|(name, _)| String::from(name)));
    names
}

/// The processes of a set, this one being in it or not; `None` for an unknown name.
pub fn members(name: &str) -> Option<Box<[u32]>> {
    let all = 0..process::count() as u32;
    let number = |prefix: &str| {
        let (front, rest) = name.split_at_checked(prefix.len())?;
        if front.eq_ignore_ascii_case(prefix) { rest.parse::<u32>().ok() } else { None }
    };
    let members: Box<[u32]> = if name.eq_ignore_ascii_case(WORLD) {
        all.collect()
    } else if name.eq_ignore_ascii_case(SELF) {
        Box::new([process::me().index])
    } else if name.eq_ignore_ascii_case(SHARED) {
        all.filter(|index| process::get(*index).same_node).collect()
    } else if let Some(node) = number(NODE) {
        all.filter(|index| process::get(*index).node() == node).collect()
    } else if let Some(app) = number(APP) {
        let environment = ess::selected()?;
        all.filter(|index| environment.app_of(*index) == Some(app)).collect()
    } else {
        let (_, ranks) = sets(PROCESS_SETS.text()).find(|(known, _)| *known == name)?;
        all.filter(|index| contains(ranks, *index)).collect()
    };
    (!members.is_empty()).then_some(members)
}

/// MPI_Group_from_session_pset.
pub fn group(session: usize, name: &str) -> Result<Group> {
    Ok(Group::new(known(name)?, process::me().index).in_session(session))
}

/// MPI_Session_get_pset_info.
pub fn set_info(name: &str) -> Result<Info> {
    Ok(Info::of([("mpi_size", &format!("{}", known(name)?.len()))]))
}

fn known(name: &str) -> Result<Box<[u32]>> {
    members(name).ok_or_else(|| {
        let why = format!("there is no process set `{name}`; MPI_Session_get_nth_pset names those of this process");
        Fault::new(Class::Arg).argument("pset_name").because(why)
    })
}

/// The sets of the parameter: name and list of ranks. What is none is passed over; mpirun checks what it is given.
fn sets(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split(';').filter_map(|set| set.rsplit_once(':')).filter(|(name, _)| !name.is_empty())
}

fn contains(ranks: &str, rank: u32) -> bool {
    ranks.split(',').any(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        matches!((first.parse::<u32>(), last.parse::<u32>()), (Ok(first), Ok(last)) if (first..=last).contains(&rank))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_the_parameter() {
        let found: Vec<_> = sets("left:0-3,7;app://x:1;:2;none").collect();
        assert_eq!(found, [("left", "0-3,7"), ("app://x", "1")]);
        for (rank, want) in [(0, true), (3, true), (4, false), (7, true), (8, false)] {
            assert_eq!(contains("0-3,7", rank), want, "{rank}");
        }
        assert!(!contains("", 0) && !contains("a-b", 0) && !contains("3-1", 2));
    }
}
