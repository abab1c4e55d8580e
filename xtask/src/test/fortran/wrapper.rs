//! The wrapper of the library under test.

use crate::failure::{Result, fail};
use crate::shell;
use crate::test::Session;
use crate::test::programs::{own_choice, stem};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// `mpifort`.
pub fn wrapper(session: &mut Session) -> Result<Command> {
    let dist = session.library().map_err(fail)?.dist;
    let mut command = Command::new(dist.join("bin/mpifort"));
    own_choice(&mut command);
    Ok(command)
}

/// Why a test is skipped.
pub const ABSENT: &str = "gfortran is not installed: apt-get install gfortran";

/// The program that it makes of a source.
pub fn compiled(session: &mut Session, source: &Path, flags: &[&str]) -> Result<PathBuf> {
    let name = format!("{}{}", stem(source), flags.concat());
    let folder = session.scratch().join("fortran/programs").join(&name);
    shell::folder(&folder)?;
    let program = folder.join(name);
    let mut command = wrapper(session)?;
    // The compiler leaves modules of the program's own where it runs.
    command.args(["-O1", "-g", "-Wall"]).args(flags).arg(source).arg("-o").arg(&program).current_dir(&folder);
    let outcome = shell::outcome(&mut command, COMPILE_LIMIT)?;
    match outcome.status.success() {
        true => Ok(program),
        false => Err(fail(format!("{}mpifort did not compile it", outcome.stderr))),
    }
}

/// How long a program may run.
pub const LIMIT: Duration = Duration::from_secs(120);
/// How long the wrapper may take.
pub const COMPILE_LIMIT: Duration = Duration::from_secs(120);
