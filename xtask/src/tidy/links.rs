//! The documents: every file that they point at exists.

use super::files::{Source, Sources};
use std::path::Path;

/// The pages from which every other one is reached.
pub const ROOTS: &[&str] = &["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"];

/// Names of files in the documents without such a file.
pub fn check(root: &Path, sources: &Sources) -> Vec<String> {
    let missing = ROOTS.iter().filter(|name| sources.find(name).is_none()).map(|name| format!("{name} is missing"));
    let is_document = |source: &&Source| {
        let path = source.path.as_str();
        ROOTS.contains(&path) || (path.starts_with("docs/") && path.ends_with(".md"))
    };
    missing.chain(sources.0.iter().filter(is_document).flat_map(|document| broken(root, document))).collect()
}

fn broken(root: &Path, document: &Source) -> Vec<String> {
    let folder = root.join(&document.path).parent().map_or_else(|| root.to_path_buf(), Path::to_path_buf);
    let mut findings = Vec::new();
    for (at, line) in document.text.lines().enumerate() {
        let links = links(line).into_iter().map(|path| (&*folder, path));
        for (base, path) in links.chain(paths(line).into_iter().map(|path| (root, path))) {
            if !base.join(path).exists() {
                findings.push(format!("{}:{}: there is no {path}; correct the link", document.path, at + 1));
            }
        }
    }
    findings
}

/// Targets of links, which begin where the document lies.
pub fn links(line: &str) -> Vec<&str> {
    let links = line.split("](").skip(1).filter_map(|rest| rest.split([')', '#', ' ']).next());
    links
        .filter(|target| !target.is_empty() && !target.contains("://"))
        .map(|path| path.trim_end_matches('/'))
        .collect()
}

/// Words in backquotes that are paths below a folder of the tree.
fn paths(line: &str) -> Vec<&str> {
    let quoted = line.split('`').skip(1).step_by(2).filter(|word| is_path(word));
    quoted.map(|path| path.trim_end_matches('/')).collect()
}

fn is_path(word: &str) -> bool {
    let roots = [
        "opal-core/",
        "orte-core/",
        "ompi-core/",
        "components/",
        "xtask/",
        "tests/",
        "benches/",
        "hw/",
        "docs/",
        "examples/",
    ];
    roots.iter().any(|root| word.starts_with(root)) && !word.contains(['<', '*', '{', ' ', '…', '$'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_paths() {
        let line =
            "see [it](a/b.md#c) and [that](https://x.y/z), `opal-core/src/mca/`, `components/<framework>/x`, `ls x`";
        assert_eq!(links(line), ["a/b.md"]);
        assert_eq!(paths(line), ["opal-core/src/mca"]);
    }

    #[test]
    fn resolves_links_where_the_document_lies() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let text = "[a](links.rs) [b](../tidy.rs) [c](src/tidy.rs)\n`docs/x.md`\n";
        let document = Source { path: "src/tidy/page.md".to_owned(), text: text.to_owned() };
        let expected = [
            "src/tidy/page.md:1: there is no src/tidy.rs; correct the link",
            "src/tidy/page.md:2: there is no docs/x.md; correct the link",
        ];
        assert_eq!(broken(root, &document), expected);
    }
}
