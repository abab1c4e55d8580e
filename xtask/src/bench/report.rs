//! docs/performance.md and the pages below docs/performance, made from the figures of a run.
//!
//! The first page is what a visitor reads: losses and wins. Each family of rows has a page with its figures and with notes,
//! written by hand, on what was tried. The method and the aims have a page each.

mod aims;
mod comparison;
mod family;
mod figures;
mod front;
mod method;
mod overview;

use super::result::Table;
use crate::failure::Result;
use crate::shell;
use family::FAMILIES;
use std::path::Path;

/// Writes the pages and their plots; whether there are PNGs.
pub fn write(table: &Table, docs: &Path) -> Result<bool> {
    let folder = docs.join("performance");
    let (plots, png) = super::plot::draw(table, &folder)?;
    for (file, text) in pages(table, &plots) {
        shell::write(&docs.join(file), &text)?;
    }
    Ok(png)
}

/// Each page with its path below docs.
fn pages(table: &Table, plots: &[String]) -> Vec<(String, String)> {
    let mut pages = vec![
        ("performance.md".to_owned(), front::page(table)),
        ("performance/overview.svg".to_owned(), overview::picture(table)),
        ("performance/method.md".to_owned(), method::page(table)),
    ];
    pages.extend(aims::page(table).map(|text| ("performance/aims.md".to_owned(), text)));
    for family in FAMILIES.iter().filter(|family| comparison::rows(family, table).next().is_some()) {
        pages.push((format!("performance/{}.md", family.file), figures::page(family, table, plots)));
    }
    pages
}

#[cfg(test)]
mod tests;
