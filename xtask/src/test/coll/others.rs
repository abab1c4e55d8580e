//! Programs of the chapter's tests under algorithms that they would not get by themselves.

use super::choices::on_nodes;
use super::differential::launch;
use crate::failure::Result;
use crate::test::{Session, Verdict};

/// `coll/nodes-…`, `coll/inter-…`.
pub fn cases(session: &mut Session) {
    for other in OTHERS {
        session.case(&format!("coll/{}@{}", other.name, other.ranks), |session| {
            run(session, other).unwrap_or_else(Verdict::from)
        });
    }
}

struct Other {
    name: &'static str,
    program: &'static str,
    ranks: u32,
    options: &'static [&'static str],
    /// Parts of a line that must be in the trace.
    trace: (&'static str, &'static str),
}

const OTHERS: &[Other] = &[
    // Nonblocking and persistent ones on two nodes, the ranks of a node apart.
    Other::on_nodes("nodes-nonblocking-1", "coll_nonblocking_1"),
    Other::on_nodes("nodes-nonblocking-2", "coll_nonblocking_2"),
    Other::on_nodes("nodes-nonblocking-3", "coll_nonblocking_3"),
    Other::on_nodes("nodes-persistent-1", "coll_persistent_1"),
    // Between groups: what one group does for itself, and the root with the other group.
    Other {
        name: "inter-scatter_allgather",
        program: "coll_inter",
        ranks: 5,
        options: &["coll_tuned_bcast_algorithm", "scatter_allgather"],
        trace: ("tuned: Bcast of ", ": scatter_allgather"),
    },
    Other {
        name: "inter-chain",
        program: "coll_inter",
        ranks: 5,
        options: &["coll_tuned_bcast_algorithm", "chain", "coll_tuned_bcast_segment", "100"],
        trace: ("tuned: Bcast of ", ": chain"),
    },
];

const APART: [&str; 16] = on_nodes("0,1");

impl Other {
    const fn on_nodes(name: &'static str, program: &'static str) -> Other {
        Other { name, program, ranks: 5, options: &APART, trace: ("han: ", ": leaders") }
    }
}

fn run(session: &mut Session, other: &Other) -> Result<Verdict> {
    let ended = launch(session, other.program, other.name, other.ranks, other.options, &[])?;
    let (what, algorithm) = other.trace;
    let ran = ended.err.lines().any(|line| line.contains(what) && line.trim_end().ends_with(algorithm));
    Ok(match (ended.ended_with(0), ran) {
        (true, true) => Verdict::Passed(String::new()),
        (true, false) => Verdict::Failed(format!("`{what} … {algorithm}` is not in the trace: it never ran")),
        (false, _) => Verdict::Failed(ended.story()),
    })
}
