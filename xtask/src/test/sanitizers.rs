//! Unit tests under the compiler's sanitizers: races between threads, invalid accesses that valgrind cannot see. Only in
//! the full tier, since everything is compiled once more for each.

use super::{Session, Verdict, deadline};
use crate::failure::Result;
use crate::tree;
use std::time::Duration;

/// `sanitizers/…`.
pub fn tier(session: &mut Session) -> Result<()> {
    if !session.options.all && session.options.filter.is_empty() {
        return Ok(());
    }
    for (sanitizer, packages) in ALL {
        for package in *packages {
            session.case(&format!("sanitizers/{sanitizer}/{package}"), |session| check(session, sanitizer, package));
        }
    }
    Ok(())
}

fn check(session: &mut Session, sanitizer: &str, package: &str) -> Verdict {
    if !(cfg!(target_arch = "x86_64") && cfg!(target_os = "linux")) {
        return Verdict::Skipped("the sanitizers are tried on x86_64 Linux only".to_owned());
    }
    let root = &session.tree.root;
    let mut cargo = tree::cargo();
    // A stable compiler has them behind a flag of the nightly one; the prebuilt standard library is not instrumented.
    cargo.env("RUSTC_BOOTSTRAP", "1");
    cargo.env("RUSTFLAGS", format!("-Zsanitizer={sanitizer} -Cunsafe-allow-abi-mismatch=sanitizer"));
    cargo.env("OMPI_RS_FEWER_ROUNDS", "1");
    cargo.env("TSAN_OPTIONS", format!("halt_on_error=0 suppressions={}", root.join("tests/tsan.supp").display()));
    // Texts of parameters live as long as the process; valgrind looks at leaks.
    cargo.env("ASAN_OPTIONS", "detect_leaks=0");
    cargo.args(["test", "--quiet", "--lib", "--target", "x86_64-unknown-linux-gnu", "--package", package]);
    cargo.arg("--manifest-path").arg(root.join("Cargo.toml"));
    cargo.arg("--target-dir").arg(session.tree.target.join("sanitizers").join(sanitizer));
    let log = session.scratch().join(format!("sanitizers.{sanitizer}.{package}.log"));
    match deadline::run(&mut cargo, LIMIT, &log) {
        Ok(ended) if ended.ended_with(0) => Verdict::Passed(String::new()),
        Ok(ended) => Verdict::Failed(ended.story()),
        Err(failure) => failure.into(),
    }
}

const ALL: &[(&str, &[&str])] =
    &[("thread", &["opal-core", "pml-ob1"]), ("address", &["opal-core", "pml-ob1", "btl-sm"])];
const LIMIT: Duration = Duration::from_secs(900);
