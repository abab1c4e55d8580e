//! The manual pages.

use super::place::{Place, RUN_LIMIT};
use crate::failure::Result;
use crate::shell;
use crate::test::Verdict;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Every page is without a warning, and names the options that its program's help names.
pub fn manual(place: &Place) -> Result<Verdict> {
    if shell::which("groff").is_none() {
        return Ok(Verdict::Skipped("groff is not installed: apt-get install groff-base".to_owned()));
    }
    let pages = place.dist.join("share/man/man1");
    if let Some(wrong) = functions(place)? {
        return Ok(Verdict::Failed(wrong));
    }
    for (page, option) in [("mpirun", "--report-bindings"), ("mpicc", "-shared-mpi"), ("ompi_info", "--parsable")] {
        let page = pages.join(format!("{page}.1"));
        let said = groff(place, &[page.as_path()])?;
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

/// Every function of mpi.h has a page, and all of them are without a warning: one call of groff for all.
fn functions(place: &Place) -> Result<Option<String>> {
    let folder = place.dist.join("share/man/man3");
    let header = shell::read(&place.dist.join("include/mpi.h"))?;
    let words = header.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').map(|word| word.trim_start_matches('P'));
    let names = words.filter(|word| word.starts_with("MPI_") && header.contains(&format!(" P{word}(")));
    let names: BTreeSet<&str> = names.collect();
    let (mut pages, mut aliases) = (Vec::new(), 0);
    for name in &names {
        let page = folder.join(format!("{name}.3"));
        match shell::read(&page) {
            Err(_) => return Ok(Some(format!("{} is missing", page.display()))),
            Ok(text) if text.starts_with(".so ") => aliases += 1,
            Ok(_) => pages.push(page),
        }
    }
    if names.len() < 600 || aliases < 100 {
        return Ok(Some(format!("{} functions in mpi.h, {aliases} with large counts: too few", names.len())));
    }
    let said = groff(place, &pages.iter().map(PathBuf::as_path).collect::<Vec<_>>())?;
    let complete = said.stdout.matches("SEE ALSO").count() == pages.len();
    Ok(match said.stderr.trim().is_empty() && said.status.success() && complete {
        true => None,
        false => Some(format!("groff of {}/*.3, {} pages: {}", folder.display(), pages.len(), said.stderr)),
    })
}

fn groff(place: &Place, pages: &[&Path]) -> Result<shell::Outcome> {
    let mut command = place.command("groff", &["-ww", "-man", "-Tascii", "-P-cbou"]);
    // Without escapes for bold and underlined, so that words can be searched.
    shell::outcome(command.args(pages), RUN_LIMIT)
}
