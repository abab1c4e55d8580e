//! Process sets: named sets of processes of which a session makes groups. MPI 5.0 §11.3.2.

use crate::error::{Class, Fault, Result};
use crate::group::Group;
use crate::info::Info;
use crate::process;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use orte_core::framework::ess;

const WORLD: &str = "mpi://WORLD";
const SELF: &str = "mpi://SELF";
/// The ranks of one program of the command line, by its number.
const APP: &str = "mpirun://app/";
/// The ranks of one node, by its number.
const NODE: &str = "mpirun://node/";

/// The names of the process sets that this process is in. Indices stay what they are.
pub fn process_sets() -> Vec<String> {
    let mut names = Vec::from([String::from(WORLD), String::from(SELF)]);
    if let Some(app) = ess::selected().and_then(|environment| environment.app_number()) {
        names.push(format!("{APP}{app}"));
    }
    names.push(format!("{NODE}{}", process::me().node));
    names
}

/// The processes of a set, this one being in it or not; `None` for an unknown name.
pub fn members(name: &str) -> Option<Box<[u32]>> {
    let all = 0..process::count() as u32;
    let number = |prefix: &str| name.strip_prefix(prefix)?.parse::<u32>().ok();
    let members: Box<[u32]> = if name.eq_ignore_ascii_case(WORLD) {
        all.collect()
    } else if name.eq_ignore_ascii_case(SELF) {
        Box::new([process::me().index])
    } else if let Some(node) = number(NODE) {
        all.filter(|index| process::get(*index).node == node).collect()
    } else {
        let (app, environment) = (number(APP)?, ess::selected()?);
        all.filter(|index| environment.app_of(*index) == Some(app)).collect()
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
