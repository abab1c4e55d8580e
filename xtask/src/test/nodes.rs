//! C programs on several nodes that one process plays (`orte-core/tools/mpirun/tests/hosts.rs`): the library's wire-up and
//! transports between nodes without ssh, namespaces or root.

use super::programs::{compiled, own_choice};
use super::{Session, Verdict, deadline};
use crate::failure::Result;
use crate::tree::cargo;
use std::time::Duration;

/// `nodes/…`: each program on nodes of so many ranks each.
pub fn tier(session: &mut Session) -> Result<()> {
    let common = PROGRAMS.iter().map(|program| (*program, "2+2"));
    let others = ["1+3", "0+1+2"].into_iter().map(|ranks| ("coll_blocking_2", ranks));
    for (program, ranks) in common.chain(others) {
        let case = |session: &mut Session| run(session, program, ranks, None).unwrap_or_else(Verdict::from);
        session.case(&format!("nodes/{program}@{ranks}"), case);
    }
    session.case("nodes/no_network", |session| no_network(session).unwrap_or_else(Verdict::from));
    Ok(())
}

/// Ranks of different nodes share no memory: without another transport they cannot reach each other.
fn no_network(session: &mut Session) -> Result<Verdict> {
    Ok(match run(session, PROGRAMS[0], "2+2", Some(("OMPI_MCA_btl", "self,sm")))? {
        Verdict::Failed(story) if story.contains(UNREACHED) => Verdict::Passed(String::new()),
        Verdict::Failed(story) => Verdict::Failed(format!("no rank says `{UNREACHED}`\n{story}")),
        _ => Verdict::Failed("it runs over shared memory between nodes".to_owned()),
    })
}

fn run(session: &mut Session, program: &str, ranks: &str, parameter: Option<(&str, &str)>) -> Result<Verdict> {
    let executable = compiled(session, &session.tree.root.join(format!("tests/c/{program}.c")), &[])?;
    let counts = ranks.split('+').map(|count| count.parse().unwrap_or(0));
    let nodes = counts.enumerate().flat_map(|(node, count)| std::iter::repeat_n(node.to_string(), count));
    let mut command = cargo();
    command.args(["test", "--quiet", "-p", "mpirun", "--test", "hosts", "--manifest-path"]);
    command.arg(session.tree.root.join("Cargo.toml")).args(["--", "--exact", "a_program", "--ignored", "--nocapture"]);
    own_choice(&mut command);
    command.env("PROGRAM", executable).env("NODES", nodes.collect::<Vec<_>>().join(",")).envs(parameter);
    // What the ranks say is wanted, not where the test noticed.
    command.env("RUST_BACKTRACE", "0");
    let log = session.scratch().join("nodes").join(format!("{program}@{ranks}.log"));
    let ended = deadline::run(&mut command, LIMIT, &log)?;
    Ok(if ended.ended_with(0) { Verdict::Passed(String::new()) } else { Verdict::Failed(ended.story()) })
}

const PROGRAMS: &[&str] = &[
    "comm_basic",
    "comm_hardware",
    "comm_disconnect",
    "coll_blocking_1",
    "coll_blocking_2",
    "coll_nonblocking_2",
    "coll_nonblocking_4",
    "coll_inter",
    "file_access",
    "file_collective",
    "file_differential",
    "file_nonblocking",
    "file_shared",
    "file_views",
    "heat",
    "partitioned",
    "pt2pt_blocking",
    "pt2pt_nonblocking",
    "pt2pt_probe",
    "pt2pt_large_counts",
    "rma_corners",
    "rma_differential",
    "rma_errors",
    "rma_fence",
    "rma_groups",
    "rma_litmus",
    "rma_lock_all",
    "rma_nodes",
    "rma_objects",
    "rma_passive",
    "rma_polling",
    "rma_threads",
    "session",
    "threads_pt2pt",
    "topo_dist_graph",
];
const UNREACHED: &str = "no transport reaches";
/// The test itself ends after a minute; cargo may have to compile it.
const LIMIT: Duration = Duration::from_secs(300);
