//! Every algorithm of the blocking collectives, forced by name, against a reference that uses MPI_Send and MPI_Recv only
//! (`tests/c/coll_differential.c`). What the library says of its choices proves that the algorithm ran.

mod differing;
mod giant;
mod inter;
mod measured;
mod others;
mod recorded;

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

/// What is forced, and what must be found in the trace where it applies.
struct Choice {
    name: &'static str,
    /// The way of coll/sm for each function that has several.
    sm: &'static str,
    /// Parameters, or options of mpirun, and their values.
    options: &'static [&'static str],
    /// Function and algorithm as the trace names them, and the numbers of ranks for which it is what runs.
    traces: &'static [Trace],
}

type Trace = (&'static str, &'static str, fn(u32) -> bool);

const CHOICES: &[Choice] = &[
    Choice { name: "default", sm: "auto", options: &[], traces: CHOSEN },
    // The others run where the system puts them: here ranks share cores that they cannot leave.
    Choice { name: "bound", sm: "auto", options: &["--bind-to", "core"], traces: CHOSEN },
    Choice { name: "lines", sm: "lines", options: &[], traces: LINES },
    Choice { name: "message", sm: "message", options: &[], traces: MESSAGE },
    Choice { name: "direct", sm: "direct", options: &[], traces: DIRECTLY },
    Choice {
        name: "direct-in-pieces",
        sm: "direct",
        options: &["coll_sm_reduce_piece", "1000", "smsc_cma_chunk_size", "4k"],
        traces: DIRECTLY,
    },
    // What cannot be done directly is done by who comes next.
    Choice {
        name: "direct-refused",
        sm: "direct",
        options: &["smsc", "^cma"],
        traces: &[("sm: copies", ": refused", several), ("tuned: Bcast", "", several)],
    },
    Choice { name: "pipeline", sm: "pipeline", options: &[], traces: PIPELINE },
    // Every slot is used again and again, and elements are cut apart from each other.
    Choice {
        name: "pipeline-in-pieces",
        sm: "pipeline",
        options: &["coll_sm_pipeline_piece", "3000", "coll_sm_pipeline_ring", "64k"],
        traces: PIPELINE,
    },
    // There is no room for rings of that length, and so they are shorter.
    Choice {
        name: "pipeline-shorter",
        sm: "pipeline",
        options: &["coll_sm_pipeline_ring", "16m"],
        traces: &[("sm: rings", ": no room", several), ("sm: Bcast", ": pipeline", several)],
    },
    // A piece for each of the others is shorter than most elements, which then go another way.
    Choice {
        name: "pipeline-bits",
        sm: "pipeline",
        options: &["coll_sm_pipeline_piece", "50"],
        traces: &[("sm: Bcast", ": pipeline", several), ("tuned: Allreduce", "", beyond_three)],
    },
    // Where copies are refused everything long goes through shared memory.
    Choice { name: "pipeline-only", sm: "auto", options: &["smsc", "^cma"], traces: PIPELINE },
    Choice {
        name: "without-sm",
        sm: "auto",
        options: &["coll", "^sm"],
        traces: &[("tuned: Bcast", ": next", several), ("tuned: Allreduce", ": next", several)],
    },
    Choice { name: "basic", sm: "auto", options: &["coll", "basic,self"], traces: &[] },
    // What is forced comes before coll/sm, which has a higher priority.
    Choice {
        name: "rings",
        sm: "auto",
        options: &[
            "coll_tuned_bcast_algorithm",
            "scatter_allgather",
            "coll_tuned_allreduce_algorithm",
            "ring",
            "coll_tuned_allgather_algorithm",
            "neighbor",
            "coll_tuned_alltoall_algorithm",
            "pairwise",
            "coll_tuned_reduce_scatter_algorithm",
            "ring",
        ],
        traces: &[
            ("tuned: Bcast", ": scatter_allgather", several),
            ("tuned: Allreduce", ": ring", several),
            ("tuned: Allgather", ": neighbor", even),
            ("tuned: Alltoall", ": pairwise", several),
            ("tuned: ReduceScatter", ": ring", several),
        ],
    },
    Choice {
        name: "halvings",
        sm: "auto",
        options: &[
            "coll_tuned_bcast_algorithm",
            "chain",
            "coll_tuned_bcast_segment",
            "1000",
            "coll_tuned_allreduce_algorithm",
            "halving",
            "coll_tuned_allgather_algorithm",
            "doubling",
            "coll_tuned_alltoall_algorithm",
            "bruck",
            "coll_tuned_reduce_scatter_algorithm",
            "halving",
        ],
        traces: &[
            ("tuned: Bcast", ": chain", several),
            ("tuned: Allreduce", ": halving", several),
            ("tuned: Allgather", ": doubling", power_of_two),
            ("tuned: Alltoall", ": bruck", several),
            ("tuned: ReduceScatter", ": halving", power_of_two),
        ],
    },
    // coll/han believes that the ranks are on several nodes: two on each, unlike numbers, the ranks of a node apart.
    Choice { name: "nodes-even", sm: "auto", options: &on_nodes("0,0,1,1,2,2,3,3,4,4,5,5,6,6,7,7"), traces: LEADERS },
    Choice {
        name: "nodes-uneven",
        sm: "auto",
        options: &on_nodes("0,1,1,1,1,2,2,3,3,3,3,3,3,3,4,5"),
        traces: &[
            LEADERS[0],
            LEADERS[1],
            LEADERS[2],
            LEADERS[3],
            LEADERS[4],
            LEADERS[5],
            ("sm: Bcast", ": lines", full),
        ],
    },
    Choice { name: "nodes-apart", sm: "auto", options: &on_nodes("0,1,2"), traces: LEADERS_APART },
    Choice {
        name: "bruck",
        sm: "auto",
        options: &["coll_tuned_allgather_algorithm", "bruck"],
        traces: &[("tuned: Allgather", ": bruck", several)],
    },
];

const CHOSEN: &[Trace] = &[("sm: Allreduce", ": lines", several), ("sm: Allreduce", ": pipeline", several)];

const LINES: &[Trace] = &[
    ("sm: Bcast", ": lines", several),
    ("sm: Gather", ": lines", many),
    ("sm: Scatter", ": lines", many),
    ("sm: Allgather", ": lines", several),
    ("sm: Alltoall", ": lines", several),
    ("sm: Reduce", ": lines", several),
    ("sm: Allreduce", ": lines", several),
];

const MESSAGE: &[Trace] = &[
    ("sm: Bcast", ": message", two),
    ("sm: Allgather", ": message", two),
    ("sm: Alltoall", ": message", two),
    ("tuned: Bcast", "", many),
    ("tuned: Alltoall", "", many),
];

const DIRECTLY: &[Trace] = &[
    ("sm: Bcast", ": direct", several),
    ("sm: Allgather", ": direct", several),
    ("sm: Alltoall", ": direct", several),
    ("sm: Reduce", ": direct", several),
    ("sm: Allreduce", ": direct", several),
];

const PIPELINE: &[Trace] = &[
    ("sm: Bcast", ": pipeline", several),
    ("sm: Allgather", ": pipeline", several),
    ("sm: Alltoall", ": pipeline", several),
    ("sm: Reduce", ": pipeline", several),
    ("sm: Allreduce", ": pipeline", several),
];

/// In two levels, whatever the size.
const fn on_nodes(nodes: &'static str) -> [&'static str; 16] {
    [
        "coll_han_pretend_nodes",
        nodes,
        "coll_han_barrier_algorithm",
        "leaders",
        "coll_han_bcast_algorithm",
        "leaders",
        "coll_han_reduce_algorithm",
        "leaders",
        "coll_han_allreduce_algorithm",
        "leaders",
        "coll_han_allgather_algorithm",
        "leaders",
        "coll_han_gather_algorithm",
        "leaders",
        "coll_han_scatter_algorithm",
        "leaders",
    ]
}

const LEADERS: &[Trace] = &[
    ("han: Bcast", ": leaders", many),
    ("han: Reduce", ": leaders", many),
    ("han: Allreduce", ": leaders", many),
    ("han: Allgather", ": leaders", many),
    ("han: Gather", ": leaders", many),
    ("han: Scatter", ": leaders", many),
];

const LEADERS_APART: &[Trace] = &[
    ("han: Bcast", ": leaders", beyond_three),
    ("han: Reduce", ": next", beyond_three),
    ("han: Reduce", ": leaders", beyond_three),
    ("han: Allgather", ": leaders", beyond_three),
    ("han: Gather", ": leaders", beyond_three),
    ("han: Scatter", ": leaders", beyond_three),
];

const RANKS: [u32; 10] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 16];

/// For what differs little from another choice.
const FEW: &[u32] = &[2, 3, 8];
const FEW_ON_NODES: &[u32] = &[3, 5, 8];

fn several(ranks: u32) -> bool {
    ranks > 1
}

/// With two ranks coll/sm leaves to messages what it has no name for.
fn many(ranks: u32) -> bool {
    ranks > 2
}

/// With more, none of the drawn calls is long enough; with two it would have to be tried first.
fn two(ranks: u32) -> bool {
    ranks == 2
}

/// More than there are nodes.
fn beyond_three(ranks: u32) -> bool {
    ranks > 3
}

/// The second node has four ranks, which share lines.
fn full(ranks: u32) -> bool {
    ranks > 4
}

fn even(ranks: u32) -> bool {
    ranks > 1 && ranks.is_multiple_of(2)
}

fn power_of_two(ranks: u32) -> bool {
    ranks > 1 && ranks.is_power_of_two()
}

fn run(session: &mut Session, choice: &Choice, ranks: u32) -> Result<Verdict> {
    let ways =
        ["bcast", "allgather", "alltoall", "reduce", "allreduce"].map(|name| format!("coll_sm_{name}_algorithm"));
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

const FELL_BACK: &str = "this communicator's long data goes other ways from now on";
const DRAWS: &str = "700";
/// Instead of draws: all combinations.
const EVERYTHING: &str = "0";
const LIMIT: Duration = Duration::from_secs(120);
const LIMIT_OF_ALL: Duration = Duration::from_secs(1200);
