//! docs/glossary.md: every module of the areas that strangers read first has a name of the field, or stands in the table
//! of our own words; and that table names nothing that is gone.

use super::files::{Source, Sources};
use super::identifiers;
use std::collections::BTreeSet;

/// Modules whose name the page does not explain, listed ones that are explained or gone, rows of what is gone.
pub fn check(sources: &Sources) -> Vec<String> {
    let Some(page) = sources.find(PAGE) else { return vec![format!("{PAGE} is missing")] };
    let mut findings = unknown(sources, page, UNNAMED);
    findings.extend(stale(sources, page));
    findings
}

fn unknown(sources: &Sources, page: &Source, unnamed: &[&str]) -> Vec<String> {
    let words = listed(page).into_iter().chain(rows(page).into_iter().map(|(_, word)| word));
    let words: BTreeSet<Vec<String>> = words.map(identifiers::parts).collect();
    let is_known = |name: &str| {
        let parts = identifiers::parts(name);
        let is_word = |part: &String| words.iter().any(|word| identifiers::holds(std::slice::from_ref(part), word));
        words.iter().any(|word| *word == parts) || parts.iter().all(is_word)
    };
    let is_unknown = |path: &&str| identifiers::stem(path).is_some_and(|name| !is_known(name));
    let unknown: BTreeSet<&str> = modules(sources).filter(is_unknown).collect();
    let new = unknown.iter().filter(|path| !unnamed.contains(*path)).map(|path| {
        let name = identifiers::stem(path).unwrap_or(path);
        format!(
            "{path}: `{name}` is neither a word of the field nor one of ours in {PAGE}; rename it or say what it is"
        )
    });
    let gone = unnamed.iter().filter(|path| !unknown.contains(*path));
    let gone =
        gone.map(|path| format!("{path} is explained or gone; take it off the list in xtask/src/tidy/glossary.rs"));
    new.chain(gone).collect()
}

/// Files of modules below the areas, tests apart.
fn modules(sources: &Sources) -> impl Iterator<Item = &str> {
    let paths = sources.rust().filter(|source| !source.is_test()).map(|source| source.path.as_str());
    let is_named_elsewhere = |path: &str| ["lib", "mod", "test_image"].contains(&identifiers::stem(path).unwrap_or(""));
    let is_tests = |path: &str| identifiers::stem(path).is_some_and(|name| name.ends_with("_tests"));
    paths.filter(move |path| {
        let inside = AREAS.iter().any(|area| path.starts_with(area)) && !path.contains("/models/");
        inside && !is_named_elsewhere(path) && !is_tests(path)
    })
}

/// Rows whose word stands nowhere in the tree.
fn stale(sources: &Sources, page: &Source) -> Vec<String> {
    let rows = rows(page).into_iter().map(|(line, word)| (line, word, identifiers::parts(word)));
    let mut missing: BTreeSet<(usize, &str, Vec<String>)> = rows.collect();
    for source in sources.rust() {
        if missing.is_empty() {
            break;
        }
        let folders = source.path.split('/').map(|part| part.trim_end_matches(".rs"));
        let names: Vec<&str> = identifiers::of(source).into_keys().chain(folders).collect();
        for name in names {
            let parts = identifiers::parts(name);
            missing.retain(|(_, _, word)| !identifiers::holds(&parts, word));
        }
    }
    missing
        .into_iter()
        .map(|(line, word, _)| format!("{PAGE}:{line}: nothing in the tree is called `{word}`; remove the row"))
        .collect()
}

/// Our words: what stands in backquotes in the first column of the tables, with its line.
fn rows(page: &Source) -> Vec<(usize, &str)> {
    let rows = page
        .text
        .lines()
        .enumerate()
        .filter_map(|(at, line)| Some((at + 1, line.strip_prefix('|')?.split('|').next()?)));
    rows.flat_map(|(line, cell)| quoted(cell).map(move |word| (line, word))).collect()
}

/// The field's words: what stands in backquotes before the colon of a list's line.
fn listed(page: &Source) -> Vec<&str> {
    let lines = page.text.lines().filter_map(|line| line.strip_prefix("* ")?.split(": ").next());
    lines.flat_map(quoted).collect()
}

fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

const PAGE: &str = "docs/glossary.md";
const AREAS: &[&str] = &[
    "components/pml/ob1/src/",
    "components/coll/sm/src/",
    "components/btl/",
    "components/osc/",
    "ompi-core/src/comm/",
    "ompi-core/src/win/",
];

/// Modules whose name waits for a word of the field. The list must shrink.
const UNNAMED: &[&str] = &[];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_and_rows() {
        let file = |path: &str, text: &str| Source { path: path.to_owned(), text: text.to_owned() };
        let page = "# Words\n\n| our word | the field's |\n|---|---|\n| `keeper` | proxy |\n| `rig` | test bench |\n\n\
                    * `send`, `pool`: as `lead` is\n* `ring`: channels\n";
        let sources = Sources(vec![
            file("components/btl/sm/src/lead.rs", "struct Keeper;"),
            file("components/btl/sm/src/lib.rs", ""),
            file("components/btl/sm/src/send_rings.rs", ""),
            file("components/btl/sm/src/tests.rs", ""),
            file("components/btl/sm/src/way.rs", ""),
            file("components/pml/cm/src/way.rs", ""),
        ]);
        let page = file(PAGE, page);
        let listed = ["components/btl/sm/src/way.rs", "components/btl/sm/src/gone.rs"];
        let found = unknown(&sources, &page, &listed);
        assert_eq!(found.len(), 2);
        assert!(found[0].starts_with("components/btl/sm/src/lead.rs: `lead` is neither"));
        assert!(found[1].starts_with("components/btl/sm/src/gone.rs is explained or gone"));
        assert_eq!(stale(&sources, &page), [format!("{PAGE}:6: nothing in the tree is called `rig`; remove the row")]);
    }
}
