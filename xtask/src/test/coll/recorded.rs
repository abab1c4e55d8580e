//! The nonblocking and the persistent collectives against MPI_Send and MPI_Recv: the same algorithms, recorded.

use super::choices::{CHOICES, Forced};
use super::differential::differential;
use crate::failure::Result;
use crate::test::{Session, Verdict};

/// `coll/…-nonblocking` and `coll/…-persistent`.
pub fn cases(session: &mut Session) {
    for choice in CHOICES.iter().filter(|choice| RECORDABLE.contains(&choice.name)) {
        for kind in ["nonblocking", "persistent"] {
            for &ranks in if session.options.all { RANKS } else { SAMPLE } {
                let name = format!("{}-{kind}", choice.name);
                session.case(&format!("coll/{name}@{ranks}"), |session| {
                    run(session, choice, kind, &name, ranks).unwrap_or_else(Verdict::from)
                });
            }
        }
    }
}

fn run(session: &mut Session, choice: &Forced, kind: &str, name: &str, ranks: u32) -> Result<Verdict> {
    let program = format!("coll_differential_{kind}");
    let draws = if session.options.all { "900" } else { "60" };
    differential(session, (&program, name, ranks), choice.options, draws, choice.traces)
}

/// Without coll/sm, which runs at once only.
const RECORDABLE: &[&str] = &["basic", "rings", "halvings", "bruck", "nodes-even", "nodes-apart"];
const RANKS: &[u32] = &[2, 3, 4, 5, 8, 16];
const SAMPLE: &[u32] = &[4];
