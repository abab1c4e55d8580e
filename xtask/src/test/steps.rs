//! The steps of `cargo xtask ci` that are subcommands or cargo's own.

use super::{Session, Verdict, deadline};
use crate::build::compile;
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
        // Of its own, so that it waits for no other compiler.
        cargo.arg(session.tree.root.join("Cargo.toml")).arg("--target-dir").arg(session.scratch().join("clippy"));
        ended(session, cargo.args(["--", "-D", "warnings"]), "clippy")
    });
    // The workspace's call does not see what only an image without an operating system compiles.
    session.case("clippy/bare", |session| match bare(session) {
        Ok(mut cargo) => ended(session, &mut cargo, "clippy_bare"),
        Err(failure) => failure.into(),
    });
    Ok(())
}

/// Clippy on what an image is made of, with the image's cfg and features: hw/x86_64 whole, and every package that claims to
/// run bare.
fn bare(session: &Session) -> Result<Command> {
    let mut cargo = tree::cargo();
    // Without the components that crate ompi brings by default: hosted ones are among them.
    cargo.args([
        "clippy",
        "--lib",
        "--quiet",
        "--no-default-features",
        "--features",
        "hw-x86_64/image",
        "--manifest-path",
    ]);
    cargo.arg(session.tree.root.join("Cargo.toml"));
    let claims = |package: &&tree::Package| package.facts.bare || BELOW.contains(&package.name.as_str());
    for package in session.tree.packages.iter().filter(claims) {
        cargo.args(["--package", &package.name]);
    }
    // Flags for rustc make cargo compile everything again: a folder of its own keeps the workspace's.
    cargo.arg("--target-dir").arg(session.scratch().join("clippy_bare")).args(["--target", &compile::host()?]);
    cargo.env("CARGO_ENCODED_RUSTFLAGS", ["--cfg", "ompi_bare"].join("\u{1f}")).args(["--", "-D", "warnings"]);
    Ok(cargo)
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

/// The layers, which claim nothing because nobody leaves them out.
const BELOW: &[&str] = &["opal-core", "orte-core", "ompi-core", "ompi"];
/// Beside other tests a compiler gets what they leave.
const LIMIT: Duration = Duration::from_secs(3000);
