//! The documents: what they point at exists, and the one everybody reads stays short.

use super::files::{Source, Sources};
use std::path::Path;

/// Files that README, ARCHITECTURE and CONTRIBUTING name and that are not there.
pub fn check(root: &Path, sources: &Sources) -> Vec<String> {
    let documents = DOCUMENTS.iter().map(|name| sources.find(name).ok_or(name));
    let mut findings = Vec::new();
    for document in documents {
        match document {
            Ok(document) => findings.extend(broken(root, document)),
            Err(name) => findings.push(format!("{name} is missing")),
        }
    }
    findings
}

/// ARCHITECTURE.md is read from end to end.
pub fn architecture(sources: &Sources) -> Vec<String> {
    let lines = sources.find("ARCHITECTURE.md").map_or(0, |source| source.text.lines().count());
    match lines > LIMIT {
        true => vec![format!("ARCHITECTURE.md has {lines} lines; the limit is {LIMIT}")],
        false => Vec::new(),
    }
}

fn broken(root: &Path, document: &Source) -> Vec<String> {
    let mut findings = Vec::new();
    for (at, line) in document.text.lines().enumerate() {
        for path in paths(line) {
            if !root.join(path).exists() {
                findings.push(format!("{}:{}: there is no {path}", document.path, at + 1));
            }
        }
    }
    findings
}

/// Targets of links, and words in backquotes that are paths below a folder of the tree.
fn paths(line: &str) -> Vec<&str> {
    let links = line.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
    let links = links.filter(|target| !target.is_empty() && !target.contains("://"));
    let quoted = line.split('`').skip(1).step_by(2).filter(|word| is_path(word));
    links.chain(quoted).map(|path| path.trim_end_matches('/')).collect()
}

fn is_path(word: &str) -> bool {
    let roots = ["opal-core/", "orte-core/", "ompi-core/", "components/", "xtask/", "tests/", "benches/", "hw/"];
    roots.iter().any(|root| word.starts_with(root)) && !word.contains(['<', '*', '{', ' ', '…', '$'])
}

const DOCUMENTS: &[&str] = &["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"];
const LIMIT: usize = 400;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_paths() {
        let line =
            "see [it](a/b.md#c) and [that](https://x.y/z), `opal-core/src/mca/`, `components/<framework>/x`, `ls x`";
        assert_eq!(paths(line), ["a/b.md", "opal-core/src/mca"]);
    }
}
