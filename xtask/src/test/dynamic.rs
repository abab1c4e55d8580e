//! Jobs that start others: how they end that do not end well, and what is left over.

mod case;
mod crossing;
mod ends;
mod lost;
mod robust;
mod told;

use super::programs::{compiled, own_choice};
use super::{Session, Verdict, deadline};
use crate::failure::{Result, fail};
use case::{AGENT, JobCase, LIMIT, run};
use std::process::Command;

/// `dynamic/…`.
pub fn tier(session: &mut Session) -> Result<()> {
    for case in CASES {
        session.case(&format!("dynamic/{}", case.name), |session| {
            run(session, SOURCE, case).unwrap_or_else(Verdict::from)
        });
    }
    session.case("dynamic/killed", |session| killed(session).unwrap_or_else(Verdict::from));
    robust::cases(session);
    ends::cases(session);
    lost::cases(session);
    crossing::cases(session);
    told::cases(session);
    Ok(())
}

const SOURCE: &str = "tests/dynamic/dynamic.c";

const CASES: &[JobCase] = &[
    JobCase {
        name: "loop",
        options: &["-n", "1"],
        arguments: &["loop", "20"],
        status: Some(0),
        says: &["nothing is left over"],
    },
    JobCase {
        name: "loop-of-two",
        options: &["-n", "2"],
        arguments: &["loop", "5"],
        status: Some(0),
        says: &["nothing is left over"],
    },
    JobCase {
        name: "messages",
        options: &["-n", "1"],
        arguments: &["pingpong"],
        status: Some(0),
        says: &["8 bytes between jobs:"],
    },
    JobCase {
        name: "no-program",
        options: &["-n", "2"],
        arguments: &["no-program"],
        status: Some(53),
        says: &["MPI_ERR_SPAWN", "program /nowhere/no-such-program was not found"],
    },
    JobCase {
        name: "no-transport",
        options: &["-n", "2", "--mca", "btl", "self,sm"],
        arguments: &["once"],
        status: Some(53),
        says: &[
            "MPI_ERR_SPAWN",
            "no transport reaches rank 0 in MPI_COMM_WORLD of job",
            "tcp does not: `--mca btl` leaves it out",
        ],
    },
    JobCase {
        name: "nobody-accepts",
        options: &["-n", "1", "--mca", "mpi_connect_timeout_s", "1"],
        arguments: &["no-accept"],
        status: Some(43),
        says: &["MPI_ERR_PORT", "within 1 s nobody accepted"],
    },
    JobCase {
        name: "child-fails",
        options: &["-n", "1"],
        arguments: &["fails"],
        status: Some(3),
        says: &["job 2, which ranks spawned, ended with status 3"],
    },
    // The jobs have parted: the failure of one is none of the other's business, but mpirun's status tells of it.
    JobCase {
        name: "child-fails-later",
        options: &["-n", "1"],
        arguments: &["fails-later"],
        status: Some(3),
        says: &["ended with status 3", "nobody minded"],
    },
    JobCase {
        name: "child-aborts",
        options: &["-n", "2"],
        arguments: &["aborts"],
        status: Some(7),
        says: &["called MPI_Abort", "job 2, which ranks spawned, ended with status 7"],
    },
    JobCase {
        name: "errors-abort-half",
        options: &["-n", "4"],
        arguments: &["abort-half"],
        status: Some(6),
        says: &["MPI_ERR_RANK", "ends the processes of that group", "rank 1 went on with 2", "rank 3 went on with 2"],
    },
    JobCase {
        name: "errors-abort-half-on-two-hosts",
        options: &["--mca", "plm_ssh_agent", AGENT, "--host", "a.invalid:2,b.invalid:2"],
        arguments: &["abort-half"],
        status: Some(6),
        says: &["MPI_ERR_RANK", "ends the processes of that group", "rank 1 went on with 2", "rank 3 went on with 2"],
    },
    JobCase {
        name: "errors-abort-one",
        options: &["-n", "3"],
        arguments: &["abort-one"],
        status: Some(6),
        says: &["MPI_ERR_RANK", "ends this process", "rank 1 went on with 2", "rank 2 went on with 2"],
    },
    JobCase {
        name: "child-dies",
        options: &["-n", "1"],
        arguments: &["dies"],
        status: Some(137),
        says: &["SIGKILL", "job 2, which ranks spawned, ended with status 137"],
    },
];

/// Neither mpirun can be killed so that anything is left: the first one, and that of the further job.
fn killed(session: &mut Session) -> Result<Verdict> {
    let program = compiled(session, &session.tree.root.join("tests/dynamic/dynamic.c"), &[])?;
    let dist = session.library().map_err(fail)?.dist;
    let folder = session.scratch().join("dynamic/killed");
    crate::shell::folder(&folder)?;
    let mut command = Command::new("sh");
    command.args(["-c", KILL]).arg(dist.join("bin/mpirun")).arg(program).arg(&folder);
    own_choice(&mut command);
    let ended = deadline::run(&mut command, LIMIT, &folder.join("log"))?;
    Ok(match ended.ended_with(0) && ended.out.contains("nothing is left of both") {
        true => Verdict::Passed(String::new()),
        false => Verdict::Failed(format!("something is left\n{}", ended.story())),
    })
}

/// Processes are found by the argument that all of them have.
const KILL: &str = r#"
mark=waits
for victim in first further; do
    "$0" -n 1 "$1" $mark > "$2/out" 2>&1 & job=$!
    until grep -q spawned "$2/out" && test "$(pgrep -fc "^$1 $mark")" = 2; do sleep 0.1; done
    if [ $victim = first ]; then kill -9 $job; else kill -9 $(pgrep -f "ompi-rs-job.*$1 $mark"); fi
    wait $job
    until ! pgrep -f "^$1 $mark|mpirun .*$1 $mark" > "$2/left"; do sleep 0.1; done
done
echo nothing is left of both
"#;
