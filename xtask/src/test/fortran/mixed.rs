//! Programs of C and Fortran, and what build systems ask.

use super::wrapper::{ABSENT, COMPILE_LIMIT, LIMIT, wrapper};
use crate::failure::{Result, fail};
use crate::shell;
use crate::test::programs::{launch, own_choice};
use crate::test::{Session, Verdict};
use std::process::Command;

/// `fortran/status-ignore …`, `fortran/pkg-config-static`, `fortran/variables`.
pub fn cases(session: &mut Session) {
    for (name, kind) in [("object", Kind::Object), ("library", Kind::Library), ("-static-mpi", Kind::Archive)] {
        session.case(&format!("fortran/status-ignore {name}"), |session| {
            status_ignore(session, kind).unwrap_or_else(Verdict::from)
        });
    }
    session.case("fortran/pkg-config-static", |session| pkg_config(session).unwrap_or_else(Verdict::from));
    session.case("fortran/variables", |session| variables(session).unwrap_or_else(Verdict::from));
}

/// How the C part comes to the program.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Object,
    Library,
    Archive,
}

/// The constants have the same address in C and in Fortran: MPI 5.0 §19.3.5.
fn status_ignore(session: &mut Session, kind: Kind) -> Result<Verdict> {
    if shell::which("gfortran").is_none() {
        return Ok(Verdict::Skipped(ABSENT.to_owned()));
    }
    let sources = session.tree.root.join("tests/fortran/mixed");
    let folder = session.scratch().join(format!("fortran/status-ignore-{}", kind as u8));
    shell::folder(&folder)?;
    let mut mpicc = Command::new(session.library().map_err(fail)?.dist.join("bin/mpicc"));
    own_choice(&mut mpicc);
    let (flags, part): (&[&str], _) = match kind {
        Kind::Library => (&["-shared", "-fPIC"], "libignored.so"),
        Kind::Object | Kind::Archive => (&["-c"], "ignored.o"),
    };
    mpicc.args(["-O2", "-Wall", "-Wextra", "-Werror"]).args(flags).arg(sources.join("ignored.c")).arg("-o");
    shell::run(mpicc.arg(folder.join(part)), false)?;
    let program = folder.join("ignored");
    let mut mpifort = wrapper(session)?;
    mpifort.args(["-O1", "-g"]).arg(sources.join("ignored.f90")).arg(folder.join(part)).arg("-o").arg(&program);
    mpifort.arg(format!("-Wl,-rpath,{}", folder.display()));
    if kind == Kind::Archive {
        mpifort.arg("-static-mpi");
    }
    let outcome = shell::outcome(&mut mpifort, COMPILE_LIMIT)?;
    if !outcome.status.success() {
        return Ok(Verdict::Failed(outcome.stderr));
    }
    let ended = launch(session, &program, 2, &[], LIMIT)?;
    Ok(if ended.ended_with(0) { Verdict::Passed(String::new()) } else { Verdict::Failed(ended.story()) })
}

/// A static program by the flags of `pkg-config --static`.
fn pkg_config(session: &mut Session) -> Result<Verdict> {
    if shell::which("gfortran").is_none() || shell::which("pkg-config").is_none() {
        return Ok(Verdict::Skipped("gfortran or pkg-config is not installed".to_owned()));
    }
    let dist = session.library().map_err(fail)?.dist;
    let mut asked = Command::new("pkg-config");
    asked.args(["--static", "--cflags", "--libs", "ompi-fort"]).env("PKG_CONFIG_PATH", dist.join("lib/pkgconfig"));
    let flags = shell::output(&mut asked)?;
    let program = session.scratch().join("fortran/by-pkg-config");
    let mut gfortran = Command::new("gfortran");
    gfortran.arg("-static").arg(session.tree.root.join("examples/fortran/hello.f90")).args(flags.split_whitespace());
    let outcome = shell::outcome(gfortran.arg("-o").arg(&program), COMPILE_LIMIT)?;
    if !outcome.status.success() {
        return Ok(Verdict::Failed(outcome.stderr));
    }
    let ended = launch(session, &program, 2, &[], LIMIT)?;
    Ok(if ended.ended_with(0) { Verdict::Passed(String::new()) } else { Verdict::Failed(ended.story()) })
}

/// Open MPI's variables add their flags where they belong.
fn variables(session: &mut Session) -> Result<Verdict> {
    if shell::which("gfortran").is_none() {
        return Ok(Verdict::Skipped(ABSENT.to_owned()));
    }
    let mut shown = wrapper(session)?;
    shown.args(["a.f90", "-show"]).envs([
        ("OMPI_FCFLAGS", "-Ofc -w"),
        ("OMPI_CFLAGS", "-Oc"),
        ("OMPI_CPPFLAGS", "-DX"),
    ]);
    let text = shell::output(shown.envs([("OMPI_LDFLAGS", "-L/ld"), ("OMPI_LIBS", "-lextra")]))?;
    let places = ["-DX", "-Ofc -w", "a.f90", "-L/ld", "-lmpi_abi", "-lextra"].map(|word| text.find(word));
    let in_order = places.iter().all(Option::is_some) && places.is_sorted() && !text.contains("-Oc");
    Ok(if in_order { Verdict::Passed(String::new()) } else { Verdict::Failed(text) })
}
