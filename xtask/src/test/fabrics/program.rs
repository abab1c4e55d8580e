//! What all fabrics' cases have in common: programs, compiled with the library that has them, and what is missing here.

use super::super::cluster::rig::verdict;
use super::super::foreign::library;
use super::super::session::deadline::Ended;
use super::super::{Session, Verdict, deadline};
use crate::failure::Result;
use crate::shell;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// A case on this node.
pub type Said = fn(&mut Session) -> Result<()>;

/// Skips a case with what is missing for it.
pub fn unless_lacking(lacks: Option<String>, case: impl FnOnce() -> Result<()>) -> Verdict {
    lacks.map_or_else(|| verdict(case()), Verdict::Skipped)
}

/// A program of a folder of `tests`, with its arguments.
pub fn job_of(session: &mut Session, (place, program): (&str, &[&str]), ranks: u32, options: &[&str]) -> Result<Ended> {
    let executable = compiled(session, place, program[0])?;
    let mut command = Command::new(library(session)?.join("bin/mpirun"));
    command.arg("-n").arg(ranks.to_string()).args(options).arg(executable).args(&program[1..]);
    deadline::run(&mut command, LIMIT, &session.scratch().join("fabrics/job.log"))
}

/// A program of a folder of `tests`.
pub fn compiled(session: &mut Session, place: &str, program: &str) -> Result<PathBuf> {
    let dist = library(session)?;
    let folder = session.scratch().join("fabrics");
    shell::folder(&folder)?;
    let executable = folder.join(program);
    let source = session.tree.root.join(format!("tests/{place}/{program}.c"));
    shell::output(Command::new(dist.join("bin/mpicc")).arg("-O1").arg(source).arg("-o").arg(&executable).arg("-lm"))?;
    Ok(executable)
}

/// Programs of `tests/c` for each transport, at 2 and 4 ranks.
pub const PROGRAMS: &[&str] = &[
    "pt2pt_blocking",
    "pt2pt_nonblocking",
    "pt2pt_any_source",
    "pt2pt_persistent",
    "pt2pt_probe",
    "pt2pt_unexpected",
    "coll_blocking_1",
    "coll_nonblocking_4",
    "rma_fence",
    "threads_pt2pt",
];

/// For one job.
pub const LIMIT: Duration = Duration::from_secs(240);
