//! The programs that a step needs, and the packages that contain them.

use crate::failure::{Failure, Result, refuse};
use crate::shell;

/// Refuses with the line that installs what is missing.
pub fn need(programs: &[(&str, &str)]) -> Result<()> {
    let missing: Vec<_> = programs.iter().filter(|(program, _)| shell::which(program).is_none()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = missing.iter().map(|(program, _)| *program).collect();
    let packages: Vec<&str> = missing.iter().map(|(_, package)| *package).collect();
    Err(Failure {
        status: MISSING,
        ..refuse(format!("{} must be installed first: apt-get install {}", names.join(" and "), packages.join(" ")))
    })
}

/// The status of what cannot run because a program is missing.
pub const MISSING: u8 = 3;
