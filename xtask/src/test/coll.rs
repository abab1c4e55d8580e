//! Every algorithm of the blocking collectives, forced by name, against a reference that uses MPI_Send and MPI_Recv only
//! (`tests/c/coll_differential.c`). What the library says of its choices proves that the algorithm ran.

mod choices;
mod differing;
mod giant;
mod inter;
mod measured;
mod others;
mod recorded;

use self::choices::{CHOICES, Choice, Trace};
use super::programs::{compiled, own_choice};
use super::{Session, Verdict, deadline};
use crate::failure::{Result, fail};
use deadline::Ended;
use std::process::Command;
use std::time::Duration;

/// `coll/…`.
pub fn tier(session: &mut Session) -> Result<()> {
    for choice in CHOICES {
        for ranks in RANKS {
            // One process has nobody to send to: its collectives are coll/self's, whatever is forced.
            if ranks == 1 && choice.name != "default" {
                continue;
            }
            let few = match choice.name.split('-').next() {
                Some("pipeline") if choice.name == "pipeline-bits" => &[8],
                Some("direct" | "pipeline") if choice.name.contains('-') => FEW,
                Some("bound" | "message") => FEW,
                Some("nodes") => FEW_ON_NODES,
                _ => RANKS.as_slice(),
            };
            if !session.options.all && !few.contains(&ranks) {
                continue;
            }
            session.case(&format!("coll/{}@{ranks}", choice.name), |session| match run(session, choice, ranks) {
                Ok(verdict) => verdict,
                Err(failure) => failure.into(),
            });
        }
    }
    others::cases(session);
    inter::cases(session);
    recorded::cases(session);
    measured::cases(session);
    differing::cases(session);
    if session.options.all {
        session.case("coll/giant@2", |session| giant::run(session).unwrap_or_else(Verdict::from));
    }
    Ok(())
}

const RANKS: [u32; 10] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 16];

/// For what differs little from another choice.
const FEW: &[u32] = &[2, 3, 8];
const FEW_ON_NODES: &[u32] = &[3, 5, 8];

fn run(session: &mut Session, choice: &Choice, ranks: u32) -> Result<Verdict> {
    let ways = SM_FUNCTIONS.map(|name| format!("coll_sm_{name}_algorithm"));
    let mut options = choice.options.to_vec();
    options.extend(ways.iter().flat_map(|way| [way, choice.sm]));
    let draws = if session.options.all { EVERYTHING } else { DRAWS };
    differential(session, ("coll_differential", choice.name, ranks), &options, draws, choice.traces)
}

/// A program that compares collectives with MPI_Send and MPI_Recv, and what must be in the trace.
fn differential(
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
    let ran = |function: &str, way: &str| {
        ended.err.lines().any(|line| line.trim_end().ends_with(way) && line.contains(&format!("{function} of ")))
    };
    // What a rank cannot copy another component does again, and rightly: a wrong partner would not show.
    if ended.err.lines().any(|line| line.ends_with(FELL_BACK)) {
        return Ok(Verdict::Failed(format!("`{FELL_BACK}` is in the trace")));
    }
    let missing = traces.iter().find(|(function, way, applies)| applies(ranks) && !ran(function, way));
    Ok(match missing {
        None => Verdict::Passed(String::new()),
        Some((function, way, _)) => Verdict::Failed(format!("`{function} … {way}` is not in the trace: it never ran")),
    })
}

/// A program of `tests/c` with pairs of parameter or option and value, which says how each collective is done.
fn launch(
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

/// Functions of which a parameter of coll/sm says how they are done.
const SM_FUNCTIONS: [&str; 14] = [
    "bcast",
    "gather",
    "scatter",
    "allgather",
    "allgatherv",
    "alltoall",
    "alltoallv",
    "alltoallw",
    "reduce",
    "allreduce",
    "reduce_scatter",
    "reduce_scatter_block",
    "scan",
    "exscan",
];
const FELL_BACK: &str = "this communicator's long data goes other ways from now on";
const DRAWS: &str = "1000";
/// Instead of draws: all combinations.
const EVERYTHING: &str = "0";
const LIMIT: Duration = Duration::from_secs(120);
const LIMIT_OF_ALL: Duration = Duration::from_secs(1200);
