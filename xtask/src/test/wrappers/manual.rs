//! The manual pages.

use super::place::{Place, RUN_LIMIT};
use crate::failure::Result;
use crate::shell;
use crate::test::Verdict;
use std::path::Path;

/// Every page is without a warning, and names the options that its program's help names.
pub fn manual(place: &Place) -> Result<Verdict> {
    if shell::which("groff").is_none() {
        return Ok(Verdict::Skipped("groff is not installed: apt-get install groff-base".to_owned()));
    }
    let pages = place.dist.join("share/man/man1");
    for (page, option) in [("mpirun", "--report-bindings"), ("mpicc", "-shared-mpi"), ("ompi_info", "--parsable")] {
        let page = pages.join(format!("{page}.1"));
        let said = groff(place, &page)?;
        if !said.stderr.trim().is_empty() || !said.status.success() {
            return Ok(Verdict::Failed(format!("{}: {}", page.display(), said.stderr)));
        }
        if !said.stdout.contains(option) {
            return Ok(Verdict::Failed(format!("{} does not show {option}\n{}", page.display(), said.stdout)));
        }
    }
    let aliases = ["mpiexec", "mpicxx", "mpic++"].map(|alias| pages.join(format!("{alias}.1")));
    match aliases.iter().find(|alias| !alias.exists()) {
        Some(alias) => Ok(Verdict::Failed(format!("{} is missing", alias.display()))),
        None => Ok(Verdict::Passed(String::new())),
    }
}

fn groff(place: &Place, page: &Path) -> Result<shell::Outcome> {
    let page = page.to_string_lossy();
    // Without escapes for bold and underlined, so that words can be searched.
    shell::outcome(&mut place.command("groff", &["-ww", "-man", "-Tascii", "-P-cbou", &page]), RUN_LIMIT)
}
