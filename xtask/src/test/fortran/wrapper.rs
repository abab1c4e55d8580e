//! The wrapper of the library under test.

use crate::failure::{Result, fail};
use crate::test::Session;
use crate::test::programs::own_choice;
use std::process::Command;

/// `mpifort`.
pub fn wrapper(session: &mut Session) -> Result<Command> {
    let dist = session.library().map_err(fail)?.dist;
    let mut command = Command::new(dist.join("bin/mpifort"));
    own_choice(&mut command);
    Ok(command)
}

/// Why a test is skipped.
pub const ABSENT: &str = "gfortran is not installed: apt-get install gfortran";
