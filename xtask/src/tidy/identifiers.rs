//! The words that identifiers and names of files are made of.

use super::files::Source;
use super::spans::without_tests;
use std::collections::BTreeMap;

/// Where a name stands in a file.
#[derive(Clone, Copy, Debug)]
pub struct Use {
    /// Its first line.
    pub line: usize,
    /// How often it stands there.
    pub count: usize,
}

/// Identifiers outside tests; the file's own name stands on line 1.
pub fn of(source: &Source) -> BTreeMap<&str, Use> {
    let tokens = without_tests(&source.text);
    let names = tokens.iter().filter(|token| token.is_word()).map(|one| (one.text, one.line));
    let mut uses = BTreeMap::new();
    for (name, line) in stem(&source.path).map(|stem| (stem, 1)).into_iter().chain(names) {
        uses.entry(name).or_insert(Use { line, count: 0 }).count += 1;
    }
    uses
}

/// The name of a Rust file.
pub fn stem(path: &str) -> Option<&str> {
    path.rsplit('/').next().and_then(|name| name.strip_suffix(".rs"))
}

/// Whether the parts of a word stand in a row among those of a name; each may have an s there.
pub fn holds(name: &[String], word: &[String]) -> bool {
    let same = |(part, word): (&String, &String)| part == word || part.strip_suffix('s') == Some(word);
    name.windows(word.len().max(1)).any(|window| window.iter().zip(word).all(same))
}

/// The words of an identifier, in small letters.
pub fn parts(name: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut before = '_';
    for c in name.chars() {
        if c == '_' || (c.is_uppercase() && !before.is_uppercase()) || before == '_' {
            parts.push(String::new());
        }
        if let Some(part) = parts.last_mut().filter(|_| c != '_') {
            part.extend(c.to_lowercase());
        }
        before = c;
    }
    parts.retain(|part| !part.is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_names() {
        assert_eq!(parts("second_halves"), ["second", "halves"]);
        assert_eq!(parts("SecondHalf"), ["second", "half"]);
        assert_eq!(parts("MAX_WAYS"), ["max", "ways"]);
        assert_eq!(parts("__x"), ["x"]);
        assert!(holds(&parts("OtherWaysOut"), &parts("way_out")));
        assert!(!holds(&parts("away"), &parts("way")));
    }
}
