//! Programs in Fortran under our mpifort and mpirun, and what the wrapper and the build refuse.

mod flang;
mod instructions;
mod mpich;
mod packages;
mod routines;
mod wrapper;

use super::programs::{launch, sources, stem};
use super::{Session, Verdict};
use crate::failure::Result;
use crate::shell;
use std::path::Path;
use wrapper::{ABSENT, COMPILE_LIMIT, LIMIT, compiled, wrapper};

/// `fortran/…`: each program at several numbers of ranks.
pub fn tier(session: &mut Session) -> Result<()> {
    for folder in ["tests/fortran", "examples/fortran"] {
        for source in sources(&session.tree.root.join(folder), &["f", "f90"])? {
            let name = stem(&source);
            for ranks in ranks(&shell::read(&source)?) {
                session.case(&format!("fortran/{name}@{ranks}"), |session| program(session, &source, ranks, &[]));
            }
            session.case(&format!("fortran/{name}@2 -static-mpi"), |session| {
                program(session, &source, 2, &["-static-mpi"])
            });
        }
    }
    session.case("fortran/wrong-kind", wrong_kind);
    session.case("fortran/wide-integers", wide_integers);
    session.case("fortran/instructions", instructions::instructions);
    session.case("fortran/flang", flang::flang);
    routines::cases(session);
    mpich::cases(session);
    packages::cases(session);
    Ok(())
}

/// From the line `! ranks: 1 2 4`.
fn ranks(source: &str) -> Vec<u32> {
    let line = source.lines().find_map(|line| line.strip_prefix("! ranks:")).unwrap_or("1 2 4");
    line.split_whitespace().filter_map(|word| word.parse().ok()).collect()
}

fn program(session: &mut Session, source: &Path, ranks: u32, flags: &[&str]) -> Verdict {
    if shell::which("gfortran").is_none() {
        return Verdict::Skipped(ABSENT.to_owned());
    }
    let run = compiled(session, source, flags).and_then(|program| launch(session, &program, ranks, &[], LIMIT));
    match run {
        Ok(ended) if ended.ended_with(0) => Verdict::Passed(String::new()),
        Ok(ended) => Verdict::Failed(ended.story()),
        Err(failure) => failure.into(),
    }
}

/// With mpi_f08 an argument of the wrong type does not compile.
fn wrong_kind(session: &mut Session) -> Verdict {
    let right = "use mpi_f08\ncall MPI_Barrier(MPI_COMM_WORLD)\nend\n";
    let wrong = [
        "use mpi_f08\ncall MPI_Barrier(257)\nend\n",
        "use mpi_f08\ncall MPI_Barrier(MPI_INTEGER)\nend\n",
        "use mpi\ninteger(kind=8) :: comm\ninteger :: ierror\ncall MPI_Barrier(comm, ierror)\nend\n",
    ];
    refusals(session, right, &wrong, &[])
}

/// An option that makes INTEGER wider than C's int is refused with a sentence.
fn wide_integers(session: &mut Session) -> Verdict {
    let text = "include 'mpif.h'\ninteger ierror\ncall MPI_BARRIER(MPI_COMM_WORLD, ierror)\nend\n";
    refusals(session, text, &[text], &["-fdefault-integer-8"])
}

fn refusals(session: &mut Session, right: &str, wrong: &[&str], flags: &[&str]) -> Verdict {
    if shell::which("gfortran").is_none() {
        return Verdict::Skipped(ABSENT.to_owned());
    }
    let mut run = || -> Result<Verdict> {
        let file = session.scratch().join("fortran/refused.f90");
        shell::write(&file, right)?;
        let mut command = wrapper(session)?;
        shell::output(command.args(["-fsyntax-only", "-ffree-form"]).arg(&file))?;
        for text in wrong {
            shell::write(&file, text)?;
            let mut command = wrapper(session)?;
            let outcome =
                shell::outcome(command.args(["-fsyntax-only", "-ffree-form"]).args(flags).arg(&file), COMPILE_LIMIT)?;
            if outcome.status.success() {
                return Ok(Verdict::Failed(format!("this compiles:\n{text}")));
            }
            if !flags.is_empty() && !outcome.stderr.contains("INTEGER of this library") {
                return Ok(Verdict::Failed(format!("mpifort {flags:?} says: {}", outcome.stderr)));
            }
        }
        Ok(Verdict::Passed(String::new()))
    };
    run().unwrap_or_else(Verdict::from)
}
