//! Shared memory that the program has overwritten: all its ranks learn of it.

use super::LIMIT;
use crate::failure::{Result, fail};
use crate::test::programs::{compiled, own_choice};
use crate::test::{Session, Verdict, deadline};
use std::process::Command;

/// `mpirun/scribbled-…`.
pub fn cases(session: &mut Session) {
    for (what, ranks, says) in CASES {
        session.case(&format!("mpirun/scribbled-{what}@{ranks}"), |session| {
            run(session, what, *ranks, says).unwrap_or_else(Verdict::from)
        });
    }
}

/// What is overwritten, on how many ranks, and what is said of it.
const CASES: &[(&str, usize, &[&str])] = &[
    ("slots", 2, &["wrote a message that does not follow the format", PEER_LEARNS]),
    ("counts", 2, &["claims to have received what was never sent", PEER_LEARNS]),
    ("collective", 2, &[]),
    ("collective", 3, &[]),
    ("collective", 5, &[]),
];
const PEER_LEARNS: &str = "found what it shares with this process overwritten";

fn run(session: &mut Session, what: &str, ranks: usize, says: &[&str]) -> Result<Verdict> {
    let source = session.tree.root.join("tests/mpirun/scribbled.c");
    let program = compiled(session, &source, &[])?;
    let dist = session.library().map_err(fail)?.dist;
    let mut command = Command::new(dist.join("bin/mpirun"));
    command.args(["-n", &ranks.to_string()]).arg(&program).arg(what);
    own_choice(&mut command);
    let ended = deadline::run(
        &mut command,
        LIMIT,
        &session.scratch().join("mpirun").join(format!("scribbled-{what}-{ranks}")),
    )?;
    let learned = (0..ranks).map(|rank| format!("rank {rank}: an error"));
    let lacking = says.iter().map(|words| (*words).to_owned()).chain(learned).find(|words| !ended.err.contains(words));
    Ok(match (lacking, ended.ended_with(4)) {
        (None, true) => Verdict::Passed(String::new()),
        (Some(words), _) => Verdict::Failed(format!("standard error lacks `{words}`\n{}", ended.story())),
        (None, false) => Verdict::Failed(format!("status 4 was expected\n{}", ended.story())),
    })
}
