//! Crate `ompi`: the examples in its documentation, of which some must not compile, and Rust programs under our mpirun.

mod ends;
mod project;

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
    session.case("rust/lock", lock);
    session.case("rust/project", |session| project::ordinary(session).unwrap_or_else(Verdict::from));
    ends::cases(session);
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
    let both = match counted(session, ["count_crate", "count_standard"]) {
        Ok(both) => both,
        Err(verdict) => return verdict,
    };
    match both.map(|cost| cost.instructions) {
        [ours, standard] if ours <= standard + MORE_AT_MOST => {
            Verdict::Passed(format!("{ours} for a send through the crate, {standard} through MPI_Send"))
        }
        [ours, standard] => Verdict::Failed(format!(
            "a send through the crate takes {ours} instructions, one through MPI_Send {standard}; {MORE_AT_MOST} more are \
             allowed: look for calls that are not inlined"
        )),
    }
}

/// What the lock of guarded data costs a program with one thread: one branch, and no locked instruction.
fn lock(session: &mut Session) -> Verdict {
    match counted(session, ["count_guarded", "count_plain"]) {
        Ok([guarded, plain]) if guarded.branches == plain.branches + 1 => Verdict::Passed(format!(
            "a branch, and {} instructions for the mark that it is held",
            guarded.instructions.saturating_sub(plain.instructions + 1)
        )),
        Ok([guarded, plain]) => Verdict::Failed(format!(
            "one use of guarded data has {} conditional branches where there is one thread, one without a guard {}; the \
             guard may have one",
            guarded.branches, plain.branches
        )),
        Err(verdict) => verdict,
    }
}

/// Of one call, loop included.
#[derive(Debug, Default, PartialEq, Eq)]
struct Cost {
    instructions: u64,
    // Conditional ones.
    branches: u64,
}

/// What the calls in two functions of tests/rust/cost.rs cost.
fn counted(session: &mut Session, functions: [&str; 2]) -> std::result::Result<[Cost; 2], Verdict> {
    if shell::which("valgrind").is_none() {
        return Err(Verdict::Skipped("valgrind is not installed: apt-get install valgrind".to_owned()));
    }
    let [one, other] = functions.map(|function| count(session, function));
    Ok([one?, other?])
}

fn count(session: &mut Session, function: &str) -> Result<Cost> {
    let built = session.library().map_err(fail)?;
    let source = session.tree.root.join("tests/rust/cost.rs");
    let program = crate::run::program::compile(&built, &source, &[], session.progress)?;
    let folder = session.scratch().join("rust").join(function);
    let _ = std::fs::remove_dir_all(&folder);
    shell::folder(&folder)?;
    let mut command = Command::new(built.dist.join("bin/mpirun"));
    command
        .args(["-n", "2", "valgrind", "--quiet", "--tool=callgrind", "--branch-sim=yes"])
        .arg(format!("--toggle-collect={function}"));
    command.arg(format!("--callgrind-out-file={}/profile.%p", folder.display())).arg(program);
    let ended = deadline::run(&mut command, Duration::from_secs(120), &folder.join("run.log"))?;
    if !ended.ended_with(0) {
        return Err(fail(ended.story()));
    }
    let mut most = Cost::default();
    for entry in std::fs::read_dir(&folder).at(format!("list {}", folder.display()))?.flatten() {
        let profile = shell::read(&entry.path())?;
        // The rank that does not send has counted nothing.
        let counted = profile.lines().filter_map(summary);
        most = counted.fold(most, |most, cost| if cost.instructions > most.instructions { cost } else { most });
    }
    match most.instructions {
        0 => Err(fail(format!("callgrind counted nothing in {function}"))),
        _ => Ok(Cost { instructions: most.instructions / CALLS, branches: most.branches / CALLS }),
    }
}

/// The events are instructions, conditional branches, those mispredicted, and the same of indirect ones; callgrind leaves
/// zeros at the end out.
fn summary(line: &str) -> Option<Cost> {
    let mut numbers = line.strip_prefix("summary: ")?.split_whitespace().map(str::parse);
    Some(Cost { instructions: numbers.next()?.ok()?, branches: numbers.next().transpose().ok()?.unwrap_or(0) })
}

fn program(session: &mut Session, source: &Path, ranks: u32) -> Verdict {
    let run = |session: &mut Session| {
        let built = session.library().map_err(fail)?;
        let program = crate::run::program::compile_quickly(&built, source, session.progress)?;
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
/// Instructions of a send through the crate above those of MPI_Send, which knows when it is chosen that nobody counts
/// messages, that the send is a standard one and the datatype predefined; the crate's asks each time.
const MORE_AT_MOST: u64 = 16;
/// With what must be compiled first.
const DOCUMENTATION_LIMIT: Duration = Duration::from_secs(900);

#[cfg(test)]
mod tests {
    use super::{Cost, summary};

    #[test]
    fn profiles() {
        let text =
            "events: Ir Bc Bcm Bi Bim\nfn=count_crate\n12 5\nsummary: 2390 160 3 16 1\ntotals: 2390 160 3 16 1\n";
        assert_eq!(text.lines().filter_map(summary).collect::<Vec<_>>(), [Cost { instructions: 2390, branches: 160 }]);
        assert_eq!(summary("summary: 96"), Some(Cost { instructions: 96, branches: 0 }));
    }
}
