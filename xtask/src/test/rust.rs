//! Crate `ompi`: the examples in its documentation, of which some must not compile, and Rust programs under our mpirun.

use super::programs::{launch, sources, stem};
use super::{Session, Verdict, deadline};
use crate::failure::{Result, fail};
use crate::tree;
use std::path::Path;
use std::time::Duration;

/// `rust/…`: the documentation, then each program at several numbers of ranks.
pub fn tier(session: &mut Session) -> Result<()> {
    session.case("rust/documentation", documentation);
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

/// With what must be compiled first.
const DOCUMENTATION_LIMIT: Duration = Duration::from_secs(900);
