//! The pages that people read: short enough, reachable from the three at the root, and a reason for each foreign crate.

use super::files::{Source, Sources};
use super::links::{self, ROOTS};
use crate::failure::Result;
use std::collections::BTreeSet;
use std::path::Path;

const ARCHITECTURE_LINES: usize = 250;
const PAGE_LINES: usize = 400;
const PAGES_OF_ARCHITECTURE: &str = "docs/architecture/";
const CRATES: &str = "docs/architecture/dependencies.md";

/// ARCHITECTURE.md is read from end to end, a page below it in one sitting.
pub fn sizes(sources: &Sources) -> Vec<String> {
    let too_long = |source: &Source| {
        let limit = match source.path.as_str() {
            "ARCHITECTURE.md" => ARCHITECTURE_LINES,
            path if path.starts_with(PAGES_OF_ARCHITECTURE) && path.ends_with(".md") => PAGE_LINES,
            _ => return None,
        };
        let lines = source.text.lines().count();
        (lines > limit).then(|| {
            format!("{} has {lines} lines; the limit is {limit}: move a part to a page of its own", source.path)
        })
    };
    sources.0.iter().filter_map(too_long).collect()
}

/// Pages below docs/ that no chain of links reaches.
pub fn linked(sources: &Sources) -> Vec<String> {
    let mut reached: BTreeSet<String> = ROOTS.iter().map(|root| (*root).to_owned()).collect();
    let mut next: Vec<String> = reached.iter().cloned().collect();
    while let Some(path) = next.pop() {
        let Some(page) = sources.find(&path) else { continue };
        let targets = page.text.lines().flat_map(links::links).map(|link| resolved(&page.path, link));
        for target in targets.filter(|target| target.ends_with(".md")) {
            if reached.insert(target.clone()) {
                next.push(target);
            }
        }
    }
    let pages = sources.0.iter().map(|source| &source.path);
    let pages = pages.filter(|path| path.starts_with("docs/") && path.ends_with(".md"));
    let lost = pages.filter(|path| !reached.contains(*path));
    lost.map(|path| format!("{path}: no link leads here from {}; link it or remove it", ROOTS.join(", "))).collect()
}

/// Foreign crates of the workspace without a row on the page, and rows without a crate.
pub fn crates(root: &Path, sources: &Sources) -> Result<Vec<String>> {
    let manifest = crate::shell::read(&root.join("Cargo.toml"))?;
    let Some(page) = sources.find(CRATES) else { return Ok(vec![format!("{CRATES} is missing")]) };
    Ok(compared(&manifest, &page.text))
}

fn compared(manifest: &str, page: &str) -> Vec<String> {
    let (used, explained) = (foreign(manifest), rows(page));
    let missing = used.difference(&explained).map(|name| format!("{CRATES}: no row says why {name} is there; add one"));
    let gone = explained
        .difference(&used)
        .map(|name| format!("{CRATES}: {name} is no dependency of the workspace; remove its row"));
    missing.chain(gone).collect()
}

/// Names in the table of dependencies that are not folders of this tree.
fn foreign(manifest: &str) -> BTreeSet<&str> {
    let table = manifest.split("[workspace.dependencies]").nth(1).unwrap_or("");
    let lines = table.lines().take_while(|line| !line.starts_with('['));
    let rows = lines.filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(" = "));
    rows.filter(|(_, value)| !value.contains("path =")).map(|(name, _)| name.trim()).collect()
}

fn rows(page: &str) -> BTreeSet<&str> {
    let cells = page.lines().filter_map(|line| line.strip_prefix("| ")?.split(" |").next());
    cells.filter(|cell| *cell != "crate").collect()
}

/// Where a link leads that begins in a page's folder.
fn resolved(page: &str, link: &str) -> String {
    let mut folders: Vec<&str> = page.split('/').collect();
    folders.pop();
    for part in link.split('/') {
        match part {
            "." | "" => {}
            ".." => _ = folders.pop(),
            part => folders.push(part),
        }
    }
    folders.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(path: &str, text: &str) -> Source {
        Source { path: path.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn limits_hold_per_page() {
        let lines = |count| "x\n".repeat(count);
        let sources = Sources(vec![
            page("ARCHITECTURE.md", &lines(251)),
            page("docs/architecture/long.md", &lines(401)),
            page("docs/architecture/short.md", &lines(400)),
            page("docs/performance/latency.md", &lines(900)),
        ]);
        let expected = [
            "ARCHITECTURE.md has 251 lines; the limit is 250: move a part to a page of its own",
            "docs/architecture/long.md has 401 lines; the limit is 400: move a part to a page of its own",
        ];
        assert_eq!(sizes(&sources), expected);
    }

    #[test]
    fn a_page_is_reached_through_other_pages() {
        let sources = Sources(vec![
            page("README.md", "see [a](docs/a.md#part)"),
            page("docs/a.md", "see [b](sub/b.md)"),
            page("docs/sub/b.md", "see [c](../c.md) and [it](https://x.y/docs/d.md)"),
            page("docs/c.md", "`docs/d.md` is named, not linked"),
            page("docs/d.md", "see [d](d.md)"),
        ]);
        assert_eq!(
            linked(&sources),
            ["docs/d.md: no link leads here from README.md, ARCHITECTURE.md, CONTRIBUTING.md; link it or remove it"]
        );
    }

    #[test]
    fn each_foreign_crate_has_a_row() {
        let manifest = "[workspace.dependencies]\nours = { path = \"ours\" }\n# why\nlog = \"0.4\"\nspin = { version = \"1\" }\n\n[lints]\nx = \"deny\"\n";
        let page = "# Crates\n\n| crate | reason |\n|---|---|\n| log | messages |\n| gone | nothing |\n";
        let expected = [
            "docs/architecture/dependencies.md: no row says why spin is there; add one",
            "docs/architecture/dependencies.md: gone is no dependency of the workspace; remove its row",
        ];
        assert_eq!(compared(manifest, page), expected);
    }
}
