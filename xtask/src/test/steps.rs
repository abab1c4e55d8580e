//! The steps of `cargo xtask ci` that are subcommands or cargo's own.

use super::{Session, Verdict, deadline};
use crate::failure::Result;
use crate::tree;
use std::process::Command;
use std::time::Duration;

/// `cargo xtask tidy`, check by check.
pub fn tidy(session: &mut Session) -> Result<()> {
    for check in crate::tidy::CHECKS {
        session.case(&format!("tidy/{}", check.name), |session| match crate::tidy::one(&session.tree, check) {
            Ok(findings) if findings.is_empty() => Verdict::Passed(String::new()),
            Ok(findings) => Verdict::Failed(findings.join("\n")),
            Err(failure) => failure.into(),
        });
    }
    Ok(())
}

/// Clippy on everything, tests included; a warning is a failure.
pub fn clippy(session: &mut Session) -> Result<()> {
    session.case("clippy/workspace", |session| {
        let mut cargo = tree::cargo();
        cargo.args(["clippy", "--workspace", "--all-targets", "--quiet", "--manifest-path"]);
        cargo.arg(session.tree.root.join("Cargo.toml")).args(["--", "-D", "warnings"]);
        ended(session, &mut cargo, "clippy")
    });
    Ok(())
}

/// `cargo xtask api`: header, rows and the standard's data agree.
pub fn api(session: &mut Session) -> Result<()> {
    session.case("api/compare", |session| match std::env::current_exe() {
        Ok(program) => ended(session, Command::new(program).arg("api"), "api"),
        Err(error) => Verdict::Failed(format!("cannot find my own program: {error}")),
    });
    Ok(())
}

fn ended(session: &Session, command: &mut Command, log: &str) -> Verdict {
    match deadline::run(command, LIMIT, &session.scratch().join(format!("{log}.log"))) {
        Ok(ended) if ended.ended_with(0) => Verdict::Passed(String::new()),
        Ok(ended) => Verdict::Failed(ended.story()),
        Err(failure) => failure.into(),
    }
}

const LIMIT: Duration = Duration::from_secs(1200);
