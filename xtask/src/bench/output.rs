//! Where the figures of a run go: the terminal, a file, plots.

use super::result::Table;
use super::{plot, print};
use crate::failure::{At, Result, fail};
use crate::progress::Progress;
use crate::shell;
use std::path::Path;

/// The end of a run of whole programs: what others fail at is told, and no more.
pub fn of_programs(table: &Table, json: Option<&Path>, progress: &Progress) -> Result<()> {
    print::table(table);
    if let Some(file) = json {
        write(table, file, progress)?;
    }
    match table.rows.iter().flat_map(|row| &row.failures).find(|failure| failure.starts_with("ours: ")) {
        None => Ok(()),
        Some(failure) => Err(fail(failure)),
    }
}

pub fn write(table: &Table, file: &Path, progress: &Progress) -> Result<()> {
    let text = serde_json::to_string_pretty(table).at("write the figures as JSON")?;
    shell::write(file, &(text + "\n"))?;
    progress.note(&format!("figures in {}", file.display()));
    Ok(())
}

pub fn plots(table: &Table, folder: &Path, progress: &Progress) -> Result<Vec<String>> {
    let (names, png) = plot::draw(table, folder)?;
    if names.is_empty() {
        return Err(fail("no row has three sizes or more with figures: there is no curve to draw"));
    }
    progress.note(&format!("{} plots in {}", names.len(), folder.display()));
    if !png {
        progress.note(NO_FONT);
    }
    Ok(names)
}

/// Said when curves were drawn as SVG only.
pub const NO_FONT: &str = "no font was found for PNG: apt-get install fonts-dejavu-core; the SVG files need none";
