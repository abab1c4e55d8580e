//! Shared memory that the program has overwritten: both ranks of the connection learn of it.

use super::LIMIT;
use crate::failure::{Result, fail};
use crate::test::programs::{compiled, own_choice};
use crate::test::{Session, Verdict, deadline};
use std::process::Command;

/// `mpirun/scribbled-…`.
pub fn cases(session: &mut Session) {
    for (what, says) in [
        (
            "slots",
            ["wrote a message that does not follow the format", "found what it shares with this process overwritten"],
        ),
        (
            "counts",
            ["claims to have received what was never sent", "found what it shares with this process overwritten"],
        ),
    ] {
        session.case(&format!("mpirun/scribbled-{what}"), |session| {
            run(session, what, &says).unwrap_or_else(Verdict::from)
        });
    }
}

fn run(session: &mut Session, what: &str, says: &[&str]) -> Result<Verdict> {
    let source = session.tree.root.join("tests/mpirun/scribbled.c");
    let program = compiled(session, &source, &[])?;
    let dist = session.library().map_err(fail)?.dist;
    let mut command = Command::new(dist.join("bin/mpirun"));
    command.args(["-n", "2"]).arg(&program).arg(what);
    own_choice(&mut command);
    let ended =
        deadline::run(&mut command, LIMIT, &session.scratch().join("mpirun").join(format!("scribbled-{what}")))?;
    let lacking =
        says.iter().chain(&["rank 0: an error", "rank 1: an error"]).find(|words| !ended.err.contains(**words));
    Ok(match (lacking, ended.ended_with(4)) {
        (None, true) => Verdict::Passed(String::new()),
        (Some(words), _) => Verdict::Failed(format!("standard error lacks `{words}`\n{}", ended.story())),
        (None, false) => Verdict::Failed(format!("status 4 was expected\n{}", ended.story())),
    })
}
