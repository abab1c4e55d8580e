//! The lock-free code in every order of its threads' accesses: tests in modules called `models`, compiled with `--cfg loom`
//! so that `opal_core::sync` hands out loom's atomics.
//!
//! Orders with more than a few preemptions are left out: two in a run for every day, three with `--all`.

use super::session::unit_tests::{Program, UnitTests};
use super::{Session, Verdict, deadline};
use crate::failure::Result;
use crate::tree;
use std::time::{Duration, Instant};

/// `loom/…`: one call of cargo compiles the models of all packages, whose time is nearly all of this tier's.
pub fn tier(session: &mut Session) -> Result<()> {
    let wanted: Vec<&str> =
        PACKAGES.iter().copied().filter(|package| session.wants(&format!("loom/{package}"))).collect();
    if wanted.is_empty() {
        return Ok(());
    }
    let start = Instant::now();
    let compiled = if session.options.list { None } else { Some(compile(session, &wanted)) };
    if let Some(compiled) = compiled.as_ref().filter(|compiled| !compiled.errors.is_empty()) {
        session.report.result("loom/compile", start.elapsed(), Verdict::Failed(compiled.errors.clone()));
    }
    for package in wanted {
        session.case(&format!("loom/{package}"), |session| {
            let mut programs = compiled.iter().flat_map(|compiled| &compiled.programs);
            match programs.find(|program| program.name == package) {
                Some(program) => check(session, program),
                None => Verdict::Failed("cargo left no test program of it".to_owned()),
            }
        });
    }
    Ok(())
}

fn compile(session: &Session, packages: &[&str]) -> UnitTests {
    let mut cargo = tree::cargo();
    cargo.env("RUSTFLAGS", "--cfg loom");
    // Thousands of orders.
    cargo.env("CARGO_PROFILE_TEST_OPT_LEVEL", "1").env("CARGO_PROFILE_DEV_OPT_LEVEL", "1");
    cargo.args(["test", "--lib", "--no-run", "--no-fail-fast", "--quiet"]);
    packages.iter().for_each(|package| _ = cargo.args(["--package", package]));
    cargo.arg("--target-dir").arg(session.tree.target.join("loom"));
    UnitTests::compiled_by(&mut cargo, &session.tree)
}

fn check(session: &Session, program: &Program) -> Verdict {
    let preemptions = if session.options.all { "3" } else { "2" };
    let mut command = program.command();
    command.env("LOOM_MAX_PREEMPTIONS", preemptions).arg("models::");
    let log = session.scratch().join(format!("loom.{}.log", program.name));
    match deadline::run(&mut command, LIMIT, &log) {
        Ok(ended) if !ended.ended_with(0) => Verdict::Failed(ended.story()),
        // A filter that fits nothing is a test that cannot fail.
        Ok(ended) => match passed(&ended.out) {
            0 => Verdict::Failed(format!("{} has no models\n{}", program.name, ended.story())),
            models => Verdict::Passed(format!("{models} models, at most {preemptions} preemptions")),
        },
        Err(failure) => failure.into(),
    }
}

/// How many tests libtest says to have passed.
fn passed(out: &str) -> usize {
    let summary = out.lines().filter_map(|line| line.strip_prefix("test result: ok. "));
    summary.filter_map(|line| line.split(' ').next()?.parse::<usize>().ok()).sum()
}

const PACKAGES: &[&str] = &["opal-core", "btl-sm", "ompi-core", "pml-ob1", "coll-sm", "part-persist", "rcache-grdma"];
/// Beside other tests it gets what they leave.
const LIMIT: Duration = Duration::from_secs(3000);

#[cfg(test)]
mod tests {
    use super::passed;

    #[test]
    fn counts_what_passed() {
        assert_eq!(passed("test a ... ok\n\ntest result: ok. 5 passed; 0 failed; 0 ignored\n"), 5);
        assert_eq!(passed("test result: ok. 0 passed; 0 failed\n"), 0);
    }
}
