//! Layer 1's unit tests under valgrind: invalid reads and writes, undefined values, leaks that nobody can reach.

use super::{Session, Verdict, deadline};
use crate::failure::Result;
use crate::shell;
use std::process::Command;
use std::time::Duration;

/// `valgrind/…`.
pub fn tier(session: &mut Session) -> Result<()> {
    let packages: &[&str] = if session.options.all { ALL } else { SAMPLE };
    for package in packages {
        session.case(&format!("valgrind/{package}"), |session| check(session, package));
    }
    Ok(())
}

fn check(session: &mut Session, package: &str) -> Verdict {
    if shell::which("valgrind").is_none() {
        return Verdict::Skipped("valgrind is not installed: apt-get install valgrind".to_owned());
    }
    let compiled = session.unit_tests();
    let Some(program) = compiled.programs.iter().find(|program| program.name == package) else {
        return Verdict::Failed(format!("there is no test program of package {package}\n{}", compiled.errors));
    };
    let plain = program.command();
    let mut command = Command::new("valgrind");
    command.env("OMPI_RS_FEWER_ROUNDS", "1");
    command.args(["--quiet", "--error-exitcode=99", "--fair-sched=yes", "--leak-check=full"]);
    // Texts of parameters live as long as the process and are still pointed to; what is lost is a defect.
    command.args(["--show-leak-kinds=definite", "--errors-for-leak-kinds=definite"]);
    command.arg(format!("--suppressions={}", session.tree.root.join("tests/valgrind.supp").display()));
    command.arg(plain.get_program()).arg("--test-threads=1");
    LONG.iter().for_each(|test| _ = command.args(["--skip", test]));
    if let Some(folder) = plain.get_current_dir() {
        command.current_dir(folder);
    }
    match deadline::run(&mut command, LIMIT, &session.scratch().join(format!("valgrind.{package}.log"))) {
        Ok(ended) if ended.ended_with(0) => Verdict::Passed(String::new()),
        Ok(ended) => Verdict::Failed(ended.story()),
        Err(failure) => failure.into(),
    }
}

const SAMPLE: &[&str] = &["opal-core"];
const ALL: &[&str] = &["opal-core", "orte-core", "ompi-core"];
/// Repeat by the ten thousand what shorter tests do once, or spin between threads, of which valgrind runs one at a time.
const LONG: &[&str] = &["order_and_content_over_many_wraps", "the_largest_payload_always_fits", "two_threads"];
const LIMIT: Duration = Duration::from_secs(300);
