//! Every algorithm of the blocking collectives, forced by name, against a reference that uses MPI_Send and MPI_Recv only
//! (`tests/c/coll_differential.c`). The messages of the library about its choices prove that the algorithm ran.

mod choices;
mod differential;
mod differing;
mod giant;
mod inter;
mod measured;
mod others;
mod recorded;

use self::choices::{CHOICES, Forced};
use self::differential::{DRAWS, EVERYTHING, differential};
use super::{Session, Verdict};
use crate::failure::Result;

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
                // From seven ranks before it on, a rank of a scan combines words.
                Some("flags") if choice.name.contains('-') => &[3, 8, 9],
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

fn run(session: &mut Session, choice: &Forced, ranks: u32) -> Result<Verdict> {
    let parameters = SM_FUNCTIONS.map(|name| format!("coll_sm_{name}_algorithm"));
    let mut options = choice.options.to_vec();
    options.extend(parameters.iter().flat_map(|name| [name, choice.sm]));
    let draws = if session.options.all { EVERYTHING } else { DRAWS };
    differential(session, ("coll_differential", choice.name, ranks), &options, draws, choice.traces)
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
