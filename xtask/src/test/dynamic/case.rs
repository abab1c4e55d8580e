//! One job of a test program, and what is expected of it.

use crate::failure::{Result, fail};
use crate::test::programs::{compiled, own_choice};
use crate::test::{Session, Verdict, deadline, jobs};
use std::process::Command;
use std::time::Duration;

/// One job of a program below `tests/dynamic`.
pub struct JobCase {
    /// Of the test.
    pub name: &'static str,
    /// Of mpirun; none: nobody launches the program. [`AGENT`] is what starts daemons.
    pub options: &'static [&'static str],
    /// What the program does.
    pub arguments: &'static [&'static str],
    /// `None`: any but success.
    pub status: Option<i32>,
    /// What its output says.
    pub says: &'static [&'static str],
}

/// Runs it.
pub fn run(session: &mut Session, source: &str, case: &JobCase) -> Result<Verdict> {
    let program = compiled(session, &session.tree.root.join(source), &["-pthread"])?;
    let dist = session.library().map_err(fail)?.dist;
    let mut command = match case.options {
        [] => Command::new(&program),
        options => {
            let mut command = Command::new(dist.join("bin/mpirun"));
            let agent = jobs::agent(session)?;
            command.args(options.iter().map(|word| if *word == AGENT { &agent } else { *word })).arg(&program);
            command
        }
    };
    command.args(case.arguments);
    own_choice(&mut command);
    let ended = deadline::run(&mut command, LIMIT, &session.scratch().join("dynamic").join(case.name))?;
    let said = format!("{}\n{}", ended.out, ended.err);
    let squeezed = said.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some(words) = case.says.iter().find(|words| !squeezed.contains(**words)) {
        return Ok(Verdict::Failed(format!("the output lacks `{words}`\n{}", ended.story())));
    }
    let is_right = match case.status {
        Some(status) => ended.ended_with(status),
        None => ended.trouble.is_none() && ended.status.is_some_and(|status| !status.success()),
    };
    Ok(match is_right {
        true => Verdict::Passed(String::new()),
        false => Verdict::Failed(format!("status {:?} was expected\n{}", case.status, ended.story())),
    })
}

/// In options: the path of what stands in for ssh.
pub const AGENT: &str = "AGENT";
/// How long a job may take.
pub const LIMIT: Duration = Duration::from_secs(120);
