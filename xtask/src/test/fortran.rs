//! Programs in Fortran under our mpifort and mpirun, and what the wrapper and the build refuse.

mod flang;
mod instructions;
mod mixed;
mod mpich;
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
    for file in ["examples/fortran/hello.f90", "tests/fortran/f08.f90"] {
        let source = session.tree.root.join(file);
        session.case(&format!("fortran/{}@2 -static", stem(&source)), |session| {
            program(session, &source, 2, &["-static"])
        });
    }
    session.case("fortran/wrong-kind", wrong_kind);
    session.case("fortran/wide-integers", wide_integers);
    session.case("fortran/strict", strict);
    session.case("fortran/instructions", instructions::instructions);
    if session.options.all {
        session.case("fortran/flang", flang::flang);
    }
    mixed::cases(session);
    routines::cases(session);
    mpich::cases(session);
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

/// mpif.h has no extension of the language.
fn strict(session: &mut Session) -> Verdict {
    if shell::which("gfortran").is_none() {
        return Verdict::Skipped(ABSENT.to_owned());
    }
    let mut run = || -> Result<Verdict> {
        let file = session.scratch().join("fortran/strict.f90");
        shell::write(&file, "include 'mpif.h'\ninteger ierror\ncall MPI_BARRIER(MPI_COMM_WORLD, ierror)\nend\n")?;
        let mut command = wrapper(session)?;
        shell::output(command.args(["-fsyntax-only", "-std=f2018"]).arg(&file))?;
        Ok(Verdict::Passed(String::new()))
    };
    run().unwrap_or_else(Verdict::from)
}

/// With an option that makes INTEGER wider than C's int the compiler refuses wrong calls, and mpif.h as a whole.
fn wide_integers(session: &mut Session) -> Verdict {
    let right = "include 'mpif.h'\ninteger ierror\ncall MPI_BARRIER(MPI_COMM_WORLD, ierror)\nend\n";
    let wrong = [right, "use mpi\ninteger :: ierror\ncall MPI_Barrier(MPI_COMM_WORLD, ierror)\nend\n"];
    let flags = ["-fdefault-integer-8"];
    match refusals(session, right, &wrong, &flags) {
        Verdict::Passed(_) => {}
        other => return other,
    }
    // What calls nothing of MPI, and what gives its integers a kind, compiles.
    let mut run = || -> Result<Verdict> {
        let file = session.scratch().join("fortran/wide.f90");
        for text in [
            "subroutine add(i)\ninteger :: i\ni = i + 1\nend\n",
            "use mpi\ninteger(4) :: ierror\ncall MPI_Barrier(MPI_COMM_WORLD, ierror)\nend\n",
        ] {
            shell::write(&file, text)?;
            let mut command = wrapper(session)?;
            shell::output(command.arg("-fsyntax-only").args(flags).arg(&file))?;
        }
        shell::write(&file, right)?;
        let outcome = shell::outcome(wrapper(session)?.arg("-fsyntax-only").args(flags).arg(&file), COMPILE_LIMIT)?;
        // The compiler names the line alone.
        let header = shell::read(&session.tree.root.join("ompi-core/fortran/include/mpif.h"))?;
        let line =
            header.lines().position(|line| line.contains("(OMPI_INTEGER_MUST_HAVE_4_BYTES=")).map_or(0, |at| at + 1);
        Ok(match outcome.stderr.contains(&format!("mpif.h:{line}:")) {
            true => Verdict::Passed(String::new()),
            false => Verdict::Failed(format!("line {line} of mpif.h should not compile: {}", outcome.stderr)),
        })
    };
    run().unwrap_or_else(Verdict::from)
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
        }
        Ok(Verdict::Passed(String::new()))
    };
    run().unwrap_or_else(Verdict::from)
}
