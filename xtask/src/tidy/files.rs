//! The files of the tree and how long they may be.

use crate::failure::{At, Result};
use std::path::{Path, PathBuf};

/// One text file.
#[derive(Debug)]
pub struct Source {
    /// Below the root, with `/`.
    pub path: String,
    /// What is in it.
    pub text: String,
}

/// All text files, sorted.
#[derive(Debug)]
pub struct Sources(pub Vec<Source>);

impl Sources {
    /// Reads everything that people write: no output of cargo or of a build.
    pub fn read(root: &Path) -> Result<Sources> {
        let mut files = Vec::new();
        walk(root, &mut files)?;
        let mut sources = Vec::new();
        for file in files {
            let bytes = std::fs::read(&file).at(format!("read {}", file.display()))?;
            let path = file.strip_prefix(root).unwrap_or(&file).to_string_lossy().into_owned();
            sources.extend(String::from_utf8(bytes).ok().map(|text| Source { path, text }));
        }
        sources.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Sources(sources))
    }

    /// The Rust files.
    pub fn rust(&self) -> impl Iterator<Item = &Source> {
        self.0.iter().filter(|source| source.path.ends_with(".rs"))
    }

    /// The file of this path.
    pub fn find(&self, path: &str) -> Option<&Source> {
        self.0.iter().find(|source| source.path == path)
    }
}

impl Source {
    /// A file of tests, by its place.
    pub fn is_test(&self) -> bool {
        let name = self.path.rsplit('/').next();
        self.path.starts_with("tests/")
            || self.path.contains("/tests/")
            || matches!(name, Some("tests.rs" | "models.rs"))
    }
}

/// Files that are too long.
pub fn sizes(sources: &Sources) -> Vec<String> {
    let long = measured(sources).filter(|(_, lines)| *lines > LIMIT);
    long.map(|(path, lines)| format!("{path} has {lines} lines; the limit is {LIMIT}: split it")).collect()
}

/// Files that begin to be long: no finding.
pub fn advice(sources: &Sources) -> Vec<String> {
    let long = measured(sources).filter(|(_, lines)| (ADVICE + 1..=LIMIT).contains(lines));
    long.map(|(path, lines)| format!("{path} has {lines} lines; {ADVICE} are easier to read")).collect()
}

fn measured(sources: &Sources) -> impl Iterator<Item = (&str, usize)> {
    let code = |source: &&Source| [".rs", ".c", ".cc", ".h"].iter().any(|end| source.path.ends_with(end));
    let exempt = |source: &&Source| source.is_test() || source.path.ends_with("include/mpi.h");
    let files = sources.0.iter().filter(code).filter(move |source| !exempt(source));
    files.map(|source| (source.path.as_str(), source.text.lines().count()))
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let what = format!("list {}", folder.display());
    for entry in std::fs::read_dir(folder).at(&what)? {
        let path = entry.at(&what)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let hidden = name.starts_with('.') && ![".ci", ".cargo", ".gitignore"].contains(&name.as_str());
        // A link leads to what is read at its own place, or out of the tree.
        if hidden || path.is_symlink() || OUTPUT.contains(&name.as_str()) || path.join("CACHEDIR.TAG").exists() {
            continue;
        }
        match path.is_dir() {
            true => walk(&path, files)?,
            false => files.push(path),
        }
    }
    Ok(())
}

const OUTPUT: &[&str] = &["target", "dist"];
const LIMIT: usize = 800;
const ADVICE: usize = 400;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_files() {
        let file = |path: &str, lines: usize| Source { path: path.to_owned(), text: "\n".repeat(lines) };
        let sources = Sources(vec![
            file("a/src/lib.rs", LIMIT),
            file("b/src/lib.rs", LIMIT + 1),
            file("b/tests/x.rs", LIMIT + 1),
            file("ompi-core/include/mpi.h", LIMIT + 1),
            file("c/src/lib.rs", ADVICE),
        ]);
        assert_eq!(sizes(&sources).len(), 1);
        assert!(sizes(&sources)[0].starts_with("b/src/lib.rs"));
        assert_eq!(advice(&sources).len(), 1);
    }
}
