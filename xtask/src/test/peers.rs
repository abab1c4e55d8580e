//! Programs that were compiled for another MPI with the standard ABI must run unchanged on this library.

use super::{Session, Verdict, deadline, programs};
use crate::failure::{Result, fail};
use crate::shell;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// `peers/…`.
pub fn tier(session: &mut Session) -> Result<()> {
    session.case("peers/abi-mpich", |session| mpich(session, "library", &[]));
    for program in ["heat", "pt2pt_blocking"] {
        session.case(&format!("peers/abi-mpich-{program}"), |session| mpich(session, program, &[]));
    }
    Ok(())
}

/// Compiles with MPICH's `mpicc_abi`, runs on our `libmpi_abi.so.1`.
fn mpich(session: &mut Session, name: &str, arguments: &[String]) -> Verdict {
    let compiler = match wheel(session) {
        Ok(compiler) => compiler,
        Err(verdict) => return verdict,
    };
    match run(session, &compiler, name, arguments) {
        Ok(ended) if ended.ended_with(0) => Verdict::Passed(String::new()),
        Ok(ended) => Verdict::Failed(ended.story()),
        Err(failure) => failure.into(),
    }
}

fn run(session: &mut Session, compiler: &Path, name: &str, arguments: &[String]) -> Result<deadline::Ended> {
    let dist = session.library().map_err(fail)?.dist;
    let folder = session.scratch().join("peers");
    let own = folder.join("library.c");
    shell::write(&own, LIBRARY_C)?;
    let source = if name == "library" { own } else { session.tree.root.join("tests/c").join(format!("{name}.c")) };
    let program = folder.join(name);
    let mut command = Command::new(compiler);
    command.args(["-O1", "-g"]).arg(&source).arg("-o").arg(&program).arg("-lm");
    programs::own_choice(&mut command);
    shell::output(&mut command)?;
    let mut command = Command::new(dist.join("bin/mpirun"));
    command.args(["-n", "2"]).arg(&program).args(arguments);
    programs::own_choice(&mut command);
    // A binary made by their wrapper carries a path to their library; ours must win before it.
    command.env("LD_LIBRARY_PATH", dist.join("lib")).env("WANTED_LIBRARY", real(&dist.join("lib/libmpi_abi.so.1")));
    deadline::run(&mut command, Duration::from_secs(120), &folder.join(format!("{name}.log")))
}

/// `mpicc_abi` of MPICH's wheel, installed below target once.
fn wheel(session: &Session) -> std::result::Result<PathBuf, Verdict> {
    let home = session.tree.target.join("peers/mpich");
    let compiler = home.join("bin/mpicc_abi");
    if compiler.is_file() {
        return Ok(compiler);
    }
    if shell::which("python3").is_none() {
        return Err(Verdict::Skipped("python3 is not installed: apt-get install python3 python3-venv".to_owned()));
    }
    let log = session.scratch().join("peers/wheel.log");
    let step = |command: &mut Command, help: &str| -> std::result::Result<(), Verdict> {
        match deadline::run(command, Duration::from_secs(180), &log) {
            Ok(ended) if ended.ended_with(0) => Ok(()),
            Ok(ended) => Err(Verdict::Skipped(format!("{help}\n{}", ended.story()))),
            Err(failure) => Err(failure.into()),
        }
    };
    let mut venv = Command::new("python3");
    step(
        venv.args(["-m", "venv"]).arg(&home),
        "python3 cannot make a virtual environment: apt-get install python3-venv",
    )?;
    let mut pip = Command::new(home.join("bin/pip"));
    pip.args(["install", "--quiet", "--disable-pip-version-check", WHEEL]);
    step(&mut pip, &format!("pip cannot install {WHEEL}; install it into {}", home.display()))?;
    match compiler.is_file() {
        true => Ok(compiler),
        false => Err(Verdict::Failed(format!("{WHEEL} has no bin/mpicc_abi in {}", home.display()))),
    }
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}

const WHEEL: &str = "mpich==5.0.2";
const LIBRARY_C: &str = include_str!("peers/library.c");
