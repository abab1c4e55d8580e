//! One job of one of the tests' C programs.

use super::programs::{compiled, own_choice};
use super::{Session, Verdict, deadline};
use crate::failure::{Result, fail};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// What is started.
pub struct Job<'a> {
    /// The C program, in the source tree.
    pub source: &'a str,
    /// `tier/name`: where its output is kept.
    pub name: &'a str,
    /// Words of mpirun before the program.
    pub options: &'a [&'a str],
    /// Words of the program.
    pub arguments: &'a [&'a str],
}

impl Job<'_> {
    /// Compiles the program, runs the job to its end.
    pub fn run(&self, session: &mut Session) -> Result<deadline::Ended> {
        let program = self.program(session)?;
        let mut command = Command::new(session.library().map_err(fail)?.dist.join("bin/mpirun"));
        command.args(self.options).arg(program).args(self.arguments);
        own_choice(&mut command);
        deadline::run(&mut command, LIMIT, &session.scratch().join(format!("{}.log", self.name)))
    }

    /// The compiled program.
    pub fn program(&self, session: &mut Session) -> Result<PathBuf> {
        compiled(session, &session.tree.root.join(self.source), &[])
    }
}

/// Stands in for ssh: starts daemons on this machine.
pub fn agent(session: &mut Session) -> Result<String> {
    let agent = session.scratch().join("agent");
    crate::shell::write(&agent, "#!/bin/sh\nexec sh -c \"$2\"\n")?;
    crate::shell::output(Command::new("chmod").arg("+x").arg(&agent))?;
    Ok(agent.to_string_lossy().into_owned())
}

/// Two ranks on one of them and one on the other.
pub const TWO_HOSTS: &str = "a.invalid:2,b.invalid:1";

/// Whether standard error has these words somewhere, each run of blanks as one.
pub fn says(ended: &deadline::Ended, words: &str) -> bool {
    squeezed(&ended.err).contains(words)
}

/// Every run of blanks and line ends as one blank.
pub fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Passed, or failed with this reason and what the job wrote.
pub fn verdict(ended: &deadline::Ended, holds: std::result::Result<(), String>) -> Verdict {
    match holds {
        Ok(()) => Verdict::Passed(String::new()),
        Err(why) => Verdict::Failed(format!("{why}\n{}", ended.story())),
    }
}

/// Seconds on a busy machine with more ranks than cores.
const LIMIT: Duration = Duration::from_secs(240);
