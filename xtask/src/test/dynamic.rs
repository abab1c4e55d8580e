//! Jobs that start others: how they end that do not end well, and what is left over.

use super::programs::{compiled, own_choice};
use super::{Session, Verdict, deadline};
use crate::failure::{Result, fail};
use std::process::Command;
use std::time::Duration;

/// `dynamic/…`.
pub fn tier(session: &mut Session) -> Result<()> {
    for case in CASES {
        session.case(&format!("dynamic/{}", case.name), |session| run(session, case).unwrap_or_else(Verdict::from));
    }
    session.case("dynamic/killed", |session| killed(session).unwrap_or_else(Verdict::from));
    Ok(())
}

/// One job of `tests/dynamic/dynamic.c`.
struct Case {
    name: &'static str,
    options: &'static [&'static str],
    /// What the program does.
    arguments: &'static [&'static str],
    status: i32,
    /// What its output says.
    says: &'static [&'static str],
}

const CASES: &[Case] = &[
    Case {
        name: "loop",
        options: &["-n", "1"],
        arguments: &["loop", "20"],
        status: 0,
        says: &["nothing is left over"],
    },
    Case {
        name: "loop-of-two",
        options: &["-n", "2"],
        arguments: &["loop", "5"],
        status: 0,
        says: &["nothing is left over"],
    },
    Case {
        name: "messages",
        options: &["-n", "1"],
        arguments: &["pingpong"],
        status: 0,
        says: &["8 bytes between jobs:"],
    },
    Case {
        name: "no-program",
        options: &["-n", "2"],
        arguments: &["no-program"],
        status: 53,
        says: &["MPI_ERR_SPAWN", "program /nowhere/no-such-program was not found"],
    },
    Case {
        name: "nobody-accepts",
        options: &["-n", "1", "--mca", "mpi_connect_timeout_s", "1"],
        arguments: &["no-accept"],
        status: 43,
        says: &["MPI_ERR_PORT", "within 1 s nobody accepted"],
    },
    Case {
        name: "child-fails",
        options: &["-n", "1"],
        arguments: &["fails"],
        status: 3,
        says: &["job 1 of those that its ranks spawned ended with status 3"],
    },
    Case {
        name: "child-aborts",
        options: &["-n", "2"],
        arguments: &["aborts"],
        status: 7,
        says: &["called MPI_Abort", "job 1 of those that its ranks spawned ended with status 7"],
    },
    Case {
        name: "child-dies",
        options: &["-n", "1"],
        arguments: &["dies"],
        status: 137,
        says: &["SIGKILL", "job 1 of those that its ranks spawned ended with status 137"],
    },
];

fn run(session: &mut Session, case: &Case) -> Result<Verdict> {
    let program = compiled(session, &session.tree.root.join("tests/dynamic/dynamic.c"), &[])?;
    let dist = session.library().map_err(fail)?.dist;
    let mut command = Command::new(dist.join("bin/mpirun"));
    command.args(case.options).arg(program).args(case.arguments);
    own_choice(&mut command);
    let ended = deadline::run(&mut command, LIMIT, &session.scratch().join("dynamic").join(case.name))?;
    let said = format!("{}\n{}", ended.out, ended.err);
    let squeezed = said.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some(words) = case.says.iter().find(|words| !squeezed.contains(**words)) {
        return Ok(Verdict::Failed(format!("the output lacks `{words}`\n{}", ended.story())));
    }
    Ok(match ended.ended_with(case.status) {
        true => Verdict::Passed(String::new()),
        false => Verdict::Failed(format!("status {} was expected\n{}", case.status, ended.story())),
    })
}

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

const LIMIT: Duration = Duration::from_secs(120);
