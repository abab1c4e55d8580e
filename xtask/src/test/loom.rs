//! The lock-free code in every order of its threads' accesses: tests in modules called `models`, compiled with `--cfg loom`
//! so that `opal_core::sync` hands out loom's atomics.
//!
//! Orders with more than a few preemptions are left out: two in a run for every day, three with `--all`.

use super::{Session, Verdict, deadline};
use crate::failure::Result;
use crate::tree;
use std::time::Duration;

/// `loom/…`.
pub fn tier(session: &mut Session) -> Result<()> {
    for package in PACKAGES {
        session.case(&format!("loom/{package}"), |session| check(session, package));
    }
    Ok(())
}

fn check(session: &mut Session, package: &str) -> Verdict {
    let preemptions = if session.options.all { "3" } else { "2" };
    let mut cargo = tree::cargo();
    cargo.env("RUSTFLAGS", "--cfg loom").env("LOOM_MAX_PREEMPTIONS", preemptions);
    // Thousands of orders.
    cargo.env("CARGO_PROFILE_TEST_OPT_LEVEL", "1").env("CARGO_PROFILE_DEV_OPT_LEVEL", "1");
    cargo.args(["test", "--lib", "--package", package]);
    cargo.arg("--manifest-path").arg(session.tree.root.join("Cargo.toml"));
    cargo.arg("--target-dir").arg(session.tree.target.join("loom"));
    cargo.args(["--", "models::"]);
    let log = session.scratch().join(format!("loom.{package}.log"));
    match deadline::run(&mut cargo, LIMIT, &log) {
        Ok(ended) if !ended.ended_with(0) => Verdict::Failed(ended.story()),
        // A filter that fits nothing is a test that cannot fail.
        Ok(ended) => match passed(&ended.out) {
            0 => Verdict::Failed(format!("{package} has no models\n{}", ended.story())),
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
