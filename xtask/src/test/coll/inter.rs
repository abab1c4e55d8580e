//! Collectives between two groups against a reference that uses MPI_Send and MPI_Recv only
//! (`tests/c/coll_differential_inter.c`): groups of 1 to 4 with 1 to 4, under each algorithm that does a part of the work.

use super::choices::{Trace, many, several};
use super::differential::{EVERYTHING, differential};
use crate::failure::Result;
use crate::test::{Session, Verdict};

/// `coll/inter-…`.
pub fn cases(session: &mut Session) {
    for choice in CHOICES {
        for ranks in RANKS.into_iter().filter(|ranks| session.options.all || SAMPLE.contains(ranks)) {
            let name = format!("inter-{}", choice.name);
            session.case(&format!("coll/{name}@{ranks}"), |session| {
                run(session, choice, &name, ranks).unwrap_or_else(Verdict::from)
            });
        }
    }
}

/// What serves the merged intracommunicator, on which all of it runs.
struct Forced {
    name: &'static str,
    options: &'static [&'static str],
    traces: &'static [Trace],
}

fn run(session: &mut Session, choice: &Forced, name: &str, ranks: u32) -> Result<Verdict> {
    let draws = if session.options.all { EVERYTHING } else { DRAWS };
    differential(session, ("coll_differential_inter", name, ranks), choice.options, draws, choice.traces)
}

const CHOICES: &[Forced] = &[
    Forced { name: "default", options: &[], traces: &[("tuned: Bcast", ": next", several)] },
    Forced { name: "basic", options: &["coll", "basic,self,inter"], traces: &[] },
    // Among the root and the other group; two processes have nothing to cut up.
    Forced {
        name: "scatter_allgather",
        options: &["coll_tuned_bcast_algorithm", "scatter_allgather"],
        traces: &[("tuned: Bcast", ": scatter_allgather", many)],
    },
    Forced {
        name: "chain",
        options: &["coll_tuned_bcast_algorithm", "chain", "coll_tuned_bcast_segment", "1000"],
        traces: &[("tuned: Bcast", ": chain", several)],
    },
];

/// Together all pairs of sizes from 1 to 4: a job is cut in every way that has no larger group.
const RANKS: [u32; 7] = [2, 3, 4, 5, 6, 7, 8];
const SAMPLE: &[u32] = &[2, 3, 5];
/// For each cut.
const DRAWS: &str = "300";
