//! What a job tells people of itself: the paths between its ranks, what each waits for, what they did.
//!
//! Nothing here is called unless a parameter asks for it. Rank 0 gathers what all ranks say, and prints it.
//!
//! **Invariant:** no fast path knows of this module.

pub mod gather;
pub mod listen;
pub mod params;
pub mod paths;
pub mod stats;
mod table;
pub mod trace;
mod wait;
pub mod waits;

use crate::init;
use alloc::format;
use alloc::string::String;
use opal_core::sys;
use orte_core::framework::ess;
pub use params::FRAMEWORK;

/// Ends the job before it has begun if this process is to write a file and cannot: at its end everybody would have waited for nothing.
/// `option` is what asked for the file.
fn check_file(option: &str, path: &str) {
    let is_writer = ess::selected().is_some_and(|environment| environment.identity().rank == 0);
    if is_writer && let Err(why) = sys::may_write_file(path) {
        init::abort(1, &format!("{option}: {path} cannot be written: {why}"));
    }
}

/// The rank in MPI_COMM_WORLD of a process; `None` of one of another job, whose index lies behind those of the own one.
fn rank_of(process: u32) -> Option<u32> {
    let is_own = ess::selected().is_none_or(|environment| process < environment.identity().size);
    is_own.then_some(process)
}

/// Behind a rank that is none of this job, for people; the number of the job follows.
const OF_JOB: &str = "of job";

/// `stats.rank3.json` for `stats.json` and rank 3.
fn file_of_rank(path: &str, rank: u32) -> String {
    let name = path.rfind('/').map_or(0, |slash| slash + 1);
    match path[name..].rfind('.').filter(|dot| *dot > 0) {
        Some(dot) => format!("{}.rank{rank}{}", &path[..name + dot], &path[name + dot..]),
        None => format!("{path}.rank{rank}"),
    }
}

/// A string of JSON.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            ' '.. => quoted.push(character),
            _ => quoted.push_str(&format!("\\u{:04x}", character as u32)),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rank_has_its_file() {
        assert_eq!(file_of_rank("/x.y/stats.json", 3), "/x.y/stats.rank3.json");
        assert_eq!(file_of_rank("/x.y/stats", 0), "/x.y/stats.rank0");
        assert_eq!(file_of_rank(".trace", 12), ".trace.rank12");
    }
}
