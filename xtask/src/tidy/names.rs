//! Words that may not stand in the tree: names that say nothing, marks of what is unfinished, paths of one machine.

use super::files::{Source, Sources};

/// Files and modules whose name says nothing.
pub fn files(sources: &Sources) -> Vec<String> {
    let stem = |path: &'_ str| path.rsplit('/').next().unwrap_or(path).split('.').next().unwrap_or("").to_owned();
    let files = sources.rust().filter(|source| {
        let folders = source.path.split('/').map(stem);
        folders.clone().any(|name| EMPTY_NAMES.contains(&name.as_str()))
    });
    let files = files.map(|source| format!("{}: a name such as `util` says nothing; name what is in it", source.path));
    let modules = lines(sources, |line| {
        let name = line.trim().strip_prefix("pub ").unwrap_or(line.trim()).strip_prefix("mod ")?;
        EMPTY_NAMES.contains(&name.trim_end_matches([';', '{', ' '])).then_some("the module's name says nothing")
    });
    files.chain(modules).collect()
}

/// What is unfinished or hidden: it must raise an error of MPI's and name itself instead.
pub fn unfinished(sources: &Sources) -> Vec<String> {
    lines(sources, |line| {
        let words = [concat!("to", "do!("), concat!("unimple", "mented!("), concat!("FIX", "ME"), concat!("dbg", "!(")];
        words.into_iter().any(|word| line.contains(word)).then_some(UNFINISHED)
    })
}

/// Marks that a merge leaves where two sides differ.
pub fn conflicts(sources: &Sources) -> Vec<String> {
    let mark = |line: &str| line.starts_with("<<<<<<< ") || line.starts_with(">>>>>>> ");
    let find = |source: &Source| -> Vec<String> {
        let lines = source.text.lines().enumerate().filter(|(_, line)| mark(line));
        lines
            .map(|(at, _)| format!("{}:{}: a conflict of a merge is left here; resolve it", source.path, at + 1))
            .collect()
    };
    sources.0.iter().flat_map(find).collect()
}

/// Paths that exist on one machine only.
pub fn machine_paths(sources: &Sources) -> Vec<String> {
    // In two halves, so that this file passes.
    let words = [concat!("/wo", "rk/"), concat!("/ho", "me/"), concat!("/ro", "ot/")];
    let find = |source: &Source| -> Vec<String> {
        let found = source.text.lines().enumerate().filter_map(|(at, line)| {
            let word = words.iter().find(|word| begins_a_path(line, word))?;
            Some(format!("{}:{}: {word} is a path of one machine; name a place below the tree", source.path, at + 1))
        });
        found.collect()
    };
    sources.0.iter().flat_map(find).collect()
}

/// `word` stands in `line` as the beginning of a path, not in the middle of one.
fn begins_a_path(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || "._-}*".contains(c))
    })
}

const UNFINISHED: &str = "this is unfinished; write it, or raise MPI_ERR_UNSUPPORTED_OPERATION that names the function";

fn lines(sources: &Sources, wrong: impl Fn(&str) -> Option<&'static str>) -> Vec<String> {
    let mut findings = Vec::new();
    for source in sources.rust() {
        for (at, line) in source.text.lines().enumerate() {
            if let Some(what) = wrong(line) {
                findings.push(format!("{}:{}: {what}", source.path, at + 1));
            }
        }
    }
    findings
}

const EMPTY_NAMES: &[&str] = &["util", "utils", "helper", "helpers", "common", "types", "misc"];

#[cfg(test)]
mod tests {
    use super::*;

    fn one(path: &str, text: &str) -> Sources {
        Sources(vec![Source { path: path.to_owned(), text: text.to_owned() }])
    }

    #[test]
    fn finds_words() {
        assert_eq!(files(&one("a/src/util.rs", "")).len(), 1);
        assert_eq!(files(&one("a/src/common/b.rs", "")).len(), 1);
        assert_eq!(files(&one("a/src/b.rs", "pub mod types {\n")).len(), 1);
        assert!(files(&one("a/src/futile.rs", "mod datatypes;\n")).is_empty());
        assert_eq!(unfinished(&one("a.rs", concat!("    to", "do!(\"later\")"))).len(), 1);
        assert_eq!(conflicts(&one("a.toml", "x\n<<<<<<< HEAD\n=======\n>>>>>>> b\n")).len(), 2);
        assert_eq!(machine_paths(&one("a.md", concat!("see /ro", "ot/x"))).len(), 1);
        assert!(machine_paths(&one("a.md", concat!("see my/wo", "rk/x"))).is_empty());
    }
}
