//! One run of a program that compares collectives with MPI_Send and MPI_Recv.

use super::choices::Trace;
use crate::failure::{Result, fail};
use crate::test::programs::{compiled, own_choice};
use crate::test::session::deadline::{self, Ended};
use crate::test::{Session, Verdict};
use std::process::Command;
use std::time::Duration;

/// A program that compares collectives with MPI_Send and MPI_Recv, and what must be in the trace.
pub fn differential(
    session: &mut Session,
    (program, name, ranks): (&str, &str, u32),
    options: &[&str],
    draws: &str,
    traces: &[Trace],
) -> Result<Verdict> {
    // The seed is the number of ranks: other draws for each, the same ones every time.
    let arguments = [draws, &ranks.to_string()];
    let ended = launch(session, program, name, ranks, options, &arguments)?;
    if !ended.ended_with(0) {
        return Ok(Verdict::Failed(ended.story()));
    }
    let ran = |function: &str, algorithm: &str| {
        ended.err.lines().any(|line| line.trim_end().ends_with(algorithm) && line.contains(&format!("{function} of ")))
    };
    // What a rank cannot copy another component does again, and rightly: a wrong partner would not show.
    if ended.err.lines().any(|line| line.ends_with(FELL_BACK)) {
        return Ok(Verdict::Failed(format!("`{FELL_BACK}` is in the trace")));
    }
    let missing = traces.iter().find(|(function, algorithm, applies)| applies(ranks) && !ran(function, algorithm));
    Ok(match missing {
        None => Verdict::Passed(String::new()),
        Some((function, algorithm, _)) => {
            Verdict::Failed(format!("`{function} … {algorithm}` is not in the trace: it never ran"))
        }
    })
}

/// A program of `tests/c` with pairs of parameter or option and value, which says how each collective is done.
pub fn launch(
    session: &mut Session,
    program: &str,
    name: &str,
    ranks: u32,
    options: &[&str],
    arguments: &[&str],
) -> Result<Ended> {
    let program = compiled(session, &session.tree.root.join(format!("tests/c/{program}.c")), &[])?;
    let mut command = Command::new(session.library().map_err(fail)?.dist.join("bin/mpirun"));
    command.args(["-n", &ranks.to_string(), "--mca", "coll_base_verbose", "40"]);
    for option in options.chunks(2) {
        if !option[0].starts_with("--") {
            command.arg("--mca");
        }
        command.args(option);
    }
    command.arg(program).args(arguments);
    own_choice(&mut command);
    let limit = if session.options.all { LIMIT_OF_ALL } else { LIMIT };
    deadline::run(&mut command, limit, &session.scratch().join("coll").join(format!("{name}@{ranks}.log")))
}

const FELL_BACK: &str = "this communicator uses no direct copies from now on";
pub const DRAWS: &str = "1000";
/// Instead of draws: all combinations.
pub const EVERYTHING: &str = "0";
pub const LIMIT: Duration = Duration::from_secs(120);
const LIMIT_OF_ALL: Duration = Duration::from_secs(1200);
