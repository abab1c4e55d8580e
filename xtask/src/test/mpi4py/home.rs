//! The folder of a compiled mpi4py.

use super::super::{Verdict, deadline};
use crate::failure::{At, Failure, Result};
use crate::shell;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A virtual environment with mpi4py in it, and its tests.
pub struct Home {
    /// The environment's interpreter.
    pub python: PathBuf,
    /// mpi4py's own tests.
    pub tests: PathBuf,
    /// Our program that runs them.
    pub suite: PathBuf,
    /// Whether it was built now.
    pub note: String,
}

/// Why there is none.
pub enum Missing {
    /// This machine lacks something.
    Here(String),
    /// It does not compile, or the like.
    Broken(String),
}

impl Missing {
    /// In words.
    pub fn why(&self) -> &str {
        match self {
            Missing::Here(why) | Missing::Broken(why) => why,
        }
    }

    /// For each test that needs it.
    pub(super) fn verdict(&self) -> Verdict {
        match self {
            Missing::Here(why) => Verdict::Skipped(why.clone()),
            Missing::Broken(why) => Verdict::Failed(why.clone()),
        }
    }
}

impl From<Failure> for Missing {
    fn from(failure: Failure) -> Missing {
        Missing::Broken(failure.text)
    }
}

impl Home {
    /// The kept build for this MPI if nothing that went into it has changed, else a new one. `standard`: for the standard
    /// ABI, else for that of its mpi.h.
    pub fn of(target: &Path, mpicc: &Path, header: &Path, standard: bool) -> std::result::Result<Home, Missing> {
        if shell::which("python3").is_none() {
            return Err(Missing::Here("python3 is not installed: apt-get install python3 python3-venv".to_owned()));
        }
        let folder = target.join("mpi4py").join(key(header)?);
        let suite = target.join("mpi4py/suite.py");
        shell::write(&suite, SUITE_PY)?;
        let unpacked = folder.join(format!("mpi4py-{VERSION}"));
        let complete = folder.join("complete");
        let kept = complete.is_file();
        if !kept {
            // What an earlier call did not finish is no use.
            let _ = std::fs::remove_dir_all(&folder);
            build(&folder, mpicc, standard)?;
            shell::write(&complete, "")?;
        }
        let note = if kept { "kept from an earlier build" } else { "compiled" }.to_owned();
        Ok(Home { python: folder.join("venv/bin/python"), tests: unpacked.join("test"), suite, note })
    }
}

/// Names what a build depends on: the ABI that it was compiled for, and Python's.
fn key(header: &Path) -> Result<String> {
    let mut hash = Sha256::new();
    hash.update(std::fs::read(header).at(format!("read {}", header.display()))?);
    hash.update(REQUIREMENTS);
    hash.update(CONSTRAINTS);
    hash.update(CFFI);
    hash.update(shell::output(
        Command::new("python3").args(["-c", "import sys; print(sys.version, sys.base_prefix)"]),
    )?);
    Ok(hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect())
}

fn build(folder: &Path, mpicc: &Path, standard: bool) -> std::result::Result<(), Missing> {
    let log = &folder.join("build.log");
    shell::write(&folder.join("requirements.txt"), REQUIREMENTS)?;
    shell::write(&folder.join("constraints.txt"), CONSTRAINTS)?;
    let step = |command: &mut Command| deadline::run(command.current_dir(folder), BUILD_LIMIT, log);
    let need = |command: &mut Command, help: &str| match step(command)? {
        ended if ended.ended_with(0) => Ok(()),
        ended => Err(Missing::Here(format!("{help}\n{}", ended.story()))),
    };
    need(
        Command::new("python3").args(["-m", "venv", "venv"]),
        "python3 cannot make a virtual environment: apt-get install python3-venv",
    )?;
    let pip = |arguments: &[&str]| {
        let mut pip = Command::new(folder.join("venv/bin/pip"));
        pip.args(["--quiet", "--disable-pip-version-check"]).args(arguments);
        // For what mpi4py is built with, too.
        pip.env("PIP_CONSTRAINT", folder.join("constraints.txt"));
        pip
    };
    let help = format!("pip cannot download mpi4py {VERSION} with the hash that the test expects");
    need(
        &mut pip(&["download", "--no-deps", "--no-binary", "mpi4py", "--require-hashes", "-r", "requirements.txt"]),
        &help,
    )?;
    let archive = format!("mpi4py-{VERSION}.tar.gz");
    need(Command::new("tar").args(["-xf", &archive]), "tar cannot unpack it; if tar is missing: apt-get install tar")?;
    // For its tests of handles in foreign hands.
    need(&mut pip(&["install", CFFI]), "pip cannot install cffi")?;
    let mut install = pip(&["install", "--no-deps", &archive]);
    install.env("MPI4PY_BUILD_MPICC", mpicc).env_remove("MPI4PY_BUILD_MPIABI").env("OMPI_RS_LINK", "shared");
    if standard {
        install.env("MPI4PY_BUILD_MPIABI", "1");
    }
    // The compiler's time, not the program's, is what this test spends.
    install.env("CFLAGS", "-O0 -g0");
    match step(&mut install)? {
        ended if ended.ended_with(0) => Ok(()),
        ended => Err(Missing::Broken(format!("mpi4py does not compile with {}\n{}", mpicc.display(), ended.story()))),
    }
}

/// What the suites want to know, nothing of what the user has set: how the library's version begins, and how the paths of
/// what is mapped of it do.
pub fn surround(command: &mut Command, version: &str, library: &Path) {
    command
        .env_remove("PYTHONPATH")
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("MPI4PY_TEST_SPAWN", "0")
        .env("WANTED_VERSION", version)
        .env("WANTED_LIBRARY", library);
}

const SUITE_PY: &str = include_str!("suite.py");
const VERSION: &str = "4.1.2";
const REQUIREMENTS: &str =
    "mpi4py==4.1.2 --hash=sha256:56860286dc45f20e8821e93cb06669e30462348bf866f685553fa4b712d58d02\n";
/// What translates mpi4py to C; its versions differ in what they ask of the compiler.
const CONSTRAINTS: &str = "cython==3.3.1\n";
const CFFI: &str = "cffi==1.17.1";
const BUILD_LIMIT: Duration = Duration::from_secs(900);
