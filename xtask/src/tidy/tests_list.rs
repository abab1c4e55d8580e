//! The committed list of tests: one that vanishes is noticed. Read from the sources, so that nothing need be compiled.

use super::files::{Source, Sources};
use crate::failure::{At, Result};
use crate::shell;
use std::collections::BTreeSet;
use std::path::Path;

/// What the list and the sources do not agree on.
pub fn check(root: &Path, sources: &Sources) -> Result<Vec<String>> {
    let path = root.join(LIST);
    if !path.exists() {
        return Ok(vec![format!("{LIST} is missing; `cargo xtask tidy --bless` writes it")]);
    }
    let text = shell::read(&path)?;
    let listed: BTreeSet<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    let found = found(sources);
    let found: BTreeSet<&str> = found.iter().map(String::as_str).collect();
    let vanished = listed.difference(&found);
    let vanished = vanished.map(|test| format!("{test}: listed in {LIST} but gone; if that is meant: tidy --bless"));
    let new = found.difference(&listed).map(|test| format!("{test}: not in {LIST}; run `cargo xtask tidy --bless`"));
    Ok(vanished.chain(new).collect())
}

/// Writes the list; returns how many tests are in it.
pub fn bless(root: &Path, sources: &Sources) -> Result<usize> {
    let found = found(sources);
    let lines: String = found.iter().map(|line| format!("{line}\n")).collect();
    let text = format!(
        "# Every test of this tree. Written by `cargo xtask tidy --bless`; a test that vanishes fails tidy.\n{lines}"
    );
    std::fs::write(root.join(LIST), text).at(format!("write {LIST}"))?;
    Ok(found.len())
}

fn found(sources: &Sources) -> BTreeSet<String> {
    let programs = sources.0.iter().filter(|source| is_program(&source.path)).map(|source| source.path.clone());
    sources.rust().flat_map(rust_tests).chain(programs).collect()
}

/// A program that the test runner compiles.
fn is_program(path: &str) -> bool {
    let inside = |folder: &str, ends: &[&str]| {
        let name = path.strip_prefix(folder).filter(|name| !name.contains('/'));
        name.is_some_and(|name| ends.iter().any(|end| name.ends_with(end)))
    };
    inside("tests/c/", &[".c", ".cc"]) || inside("tests/rust/", &[".rs"]) || inside("examples/", &[".rs"])
}

/// `path: function` for each `#[test]`.
fn rust_tests(source: &Source) -> Vec<String> {
    let mut tests = Vec::new();
    let mut marked = false;
    for line in source.text.lines().map(str::trim) {
        if line == "#[test]" {
            marked = true;
        } else if let Some(rest) = line.strip_prefix("fn ").filter(|_| marked) {
            let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or(rest);
            tests.push(format!("{}: {name}", source.path));
            marked = false;
        }
    }
    tests
}

const LIST: &str = "tests/tests.list";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_tests() {
        let text = "#[test]\nfn a() {}\nfn b() {}\n    #[test]\n    #[ignore]\n    fn c() {\n";
        let sources = Sources(vec![
            Source { path: "x/src/lib.rs".to_owned(), text: text.to_owned() },
            Source { path: "tests/c/heat.c".to_owned(), text: String::new() },
            Source { path: "tests/c/check.h".to_owned(), text: String::new() },
        ]);
        let found: Vec<String> = found(&sources).into_iter().collect();
        assert_eq!(found, ["tests/c/heat.c", "x/src/lib.rs: a", "x/src/lib.rs: c"]);
    }
}
