//! Crate `ompi`: the examples in its documentation, of which some must not compile, and Rust programs under our mpirun.

use super::programs::{launch, sources, stem};
use super::{Session, Verdict, deadline};
use crate::failure::{At, Result, fail};
use crate::{shell, tree};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// `rust/…`: the documentation, then each program at several numbers of ranks.
pub fn tier(session: &mut Session) -> Result<()> {
    session.case("rust/documentation", documentation);
    session.case("rust/instructions", instructions);
    for folder in ["examples", "tests/rust"] {
        for source in sources(&session.tree.root.join(folder), &["rs"])? {
            let stem = stem(&source);
            for ranks in 1..=4 {
                session.case(&format!("rust/{stem}@{ranks}"), |session| program(session, &source, ranks));
            }
        }
    }
    Ok(())
}

/// Each example is a process of its own, a job of one rank; those marked `compile_fail` must not compile.
fn documentation(session: &mut Session) -> Verdict {
    let mut cargo = tree::cargo();
    cargo.args(["test", "--doc", "--package", "ompi", "--quiet", "--no-fail-fast", "--", "--format", "pretty"]);
    cargo.current_dir(&session.tree.root);
    match deadline::run(&mut cargo, DOCUMENTATION_LIMIT, &session.scratch().join("rust/documentation.log")) {
        Ok(ended) if ended.ended_with(0) => {
            let ran = ended.out.lines().filter(|line| line.starts_with("test ") && line.ends_with("ok"));
            let (refused, ran): (Vec<_>, Vec<_>) = ran.partition(|line| line.contains("- compile fail"));
            match refused.is_empty() || ran.is_empty() {
                true => Verdict::Failed(format!("no examples were found\n{}", ended.story())),
                false => Verdict::Passed(format!("{} run, {} do not compile", ran.len(), refused.len())),
            }
        }
        Ok(ended) => Verdict::Failed(ended.story()),
        Err(failure) => failure.into(),
    }
}

/// A send of eight bytes through the crate beside one through MPI_Send, both in one program.
fn instructions(session: &mut Session) -> Verdict {
    if shell::which("valgrind").is_none() {
        return Verdict::Skipped("valgrind is not installed: apt-get install valgrind".to_owned());
    }
    match ["count_crate", "count_standard"].map(|function| counted(session, function)) {
        [Ok(ours), Ok(standard)] if ours <= standard + MORE_AT_MOST => {
            Verdict::Passed(format!("{ours} for a send through the crate, {standard} through MPI_Send"))
        }
        [Ok(ours), Ok(standard)] => Verdict::Failed(format!(
            "a send through the crate takes {ours} instructions, one through MPI_Send {standard}; {MORE_AT_MOST} more are \
             allowed"
        )),
        [Err(failure), _] | [_, Err(failure)] => failure.into(),
    }
}

/// Instructions of one of the calls in a function of tests/rust/cost.rs, loop included.
fn counted(session: &mut Session, function: &str) -> Result<u64> {
    let built = session.library().map_err(fail)?;
    let source = session.tree.root.join("tests/rust/cost.rs");
    let program = crate::run::program::compile(&built, &source, &[], session.progress)?;
    let folder = session.scratch().join("rust").join(function);
    let _ = std::fs::remove_dir_all(&folder);
    shell::folder(&folder)?;
    let mut command = Command::new(built.dist.join("bin/mpirun"));
    command.args(["-n", "2", "valgrind", "--quiet", "--tool=callgrind"]).arg(format!("--toggle-collect={function}"));
    command.arg(format!("--callgrind-out-file={}/profile.%p", folder.display())).arg(program);
    let ended = deadline::run(&mut command, Duration::from_secs(120), &folder.join("run.log"))?;
    if !ended.ended_with(0) {
        return Err(fail(ended.story()));
    }
    let mut most = 0;
    for entry in std::fs::read_dir(&folder).at(format!("list {}", folder.display()))?.flatten() {
        let profile = shell::read(&entry.path())?;
        // The rank that does not send has counted nothing.
        most = profile.lines().filter_map(summary).fold(most, u64::max);
    }
    match most {
        0 => Err(fail(format!("callgrind counted nothing in {function}"))),
        _ => Ok(most / CALLS),
    }
}

fn summary(line: &str) -> Option<u64> {
    line.strip_prefix("summary: ")?.trim().parse().ok()
}

fn program(session: &mut Session, source: &Path, ranks: u32) -> Verdict {
    let run = |session: &mut Session| {
        let built = session.library().map_err(fail)?;
        let program = crate::run::program::compile(&built, source, &[], session.progress)?;
        launch(session, &program, ranks, &[], Duration::from_secs(120))
    };
    match run(session) {
        Ok(ended) if ended.ended_with(0) => Verdict::Passed(String::new()),
        Ok(ended) => Verdict::Failed(ended.story()),
        Err(failure) => failure.into(),
    }
}

/// Calls in each function of the program.
const CALLS: u64 = 16;
/// Instructions of a send through the crate above those of MPI_Send.
const MORE_AT_MOST: u64 = 10;
/// With what must be compiled first.
const DOCUMENTATION_LIMIT: Duration = Duration::from_secs(900);

#[cfg(test)]
mod tests {
    use super::summary;

    #[test]
    fn profiles() {
        let text = "events: Ir\nfn=count_crate\n12 5\nsummary: 2390\ntotals: 2390\n";
        assert_eq!(text.lines().filter_map(summary).collect::<Vec<_>>(), [2390]);
    }
}
