//! Jobs over several networks: namespaces of this machine, joined by virtual wires whose counters are read; and test hosts.

mod direct;
mod document;
mod failure;
mod hosts;
mod mapping;
mod pmix;
mod real;
mod rig;
mod slurm;
mod slurm_mpirun;
mod ssh;
mod tree;

use super::{Session, Verdict, deadline};
use crate::failure::{Result, fail};
use std::process::Command;
use std::time::Duration;

/// `cluster/…`: the test hosts, then a case of `tests/cluster/two_networks.sh` each.
pub fn tier(session: &mut Session) -> Result<()> {
    hosts::cases(session);
    direct::cases(session);
    ssh::cases(session);
    slurm::cases(session);
    pmix::cases(session);
    slurm_mpirun::cases(session);
    mapping::cases(session);
    failure::cases(session);
    real::cases(session);
    tree::cases(session);
    document::cases(session);
    for case in CASES {
        session.case(&format!("cluster/{case}"), |session| match two_networks(session, case) {
            Ok(verdict) => verdict,
            Err(failure) => failure.into(),
        });
    }
    Ok(())
}

fn two_networks(session: &mut Session, case: &str) -> Result<Verdict> {
    let dist = session.library().map_err(fail)?.dist;
    let mut command = Command::new("sh");
    command.arg(session.tree.root.join("tests/cluster/two_networks.sh")).arg(dist).arg(case);
    let ended = deadline::run(&mut command, LIMIT, &session.scratch().join(format!("cluster/{case}.log")))?;
    if ended.ended_with(0) {
        return Ok(Verdict::Passed(String::new()));
    }
    // The script's own sentence says what is missing and what to do.
    Ok(if ended.ended_with(LACKS_SOMETHING) { Verdict::Skipped(ended.story()) } else { Verdict::Failed(ended.story()) })
}

const CASES: [&str; 9] = [
    "one_wire",
    "unnamed",
    "weights",
    "exclude_network",
    "exclude_name",
    "include_unknown",
    "ipv6",
    "no_answer",
    "detour",
];
const LACKS_SOMETHING: i32 = 77;
const LIMIT: Duration = Duration::from_secs(300);
