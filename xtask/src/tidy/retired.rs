//! Words that have gone from identifiers and from the names of files, because the field has its own. retired.txt lists
//! them.

use super::files::Sources;
use super::identifiers::{self, Use};
use crate::failure::{At, Result};
use std::collections::BTreeMap;
use std::path::Path;

/// Retired words that stand in the tree, and lines of the list that say nothing.
pub fn check(sources: &Sources) -> Vec<String> {
    let Some(list) = sources.find(LIST) else { return vec![format!("{LIST} is missing")] };
    let mut findings = Vec::new();
    let mut entries = Vec::new();
    for (at, line) in list.text.lines().enumerate().filter(|(_, line)| !is_comment(line)) {
        match Entry::read(line) {
            Some(entry) if !entry.is_later && entry.covers_nothing(sources) => {
                findings.push(format!(
                    "{LIST}:{}: nothing lies below {}; correct or remove the line",
                    at + 1,
                    entry.place
                ));
            }
            Some(entry) => entries.push(entry),
            None => findings.push(format!("{LIST}:{}: write `word -> the field's word  in folder`", at + 1)),
        }
    }
    let active: Vec<&Entry> = entries.iter().filter(|entry| !entry.is_later).collect();
    findings.extend(uses(sources, &active).into_iter().map(|((path, word), found)| {
        let (Use { line, count }, replacement) = found;
        let times = if count == 1 { String::new() } else { format!(", {count} times here") };
        format!("{path}:{line}: `{word}` is retired: the field says {replacement} (docs/glossary.md){times}")
    }));
    findings
}

/// Takes `later` off the lines whose word has gone; returns how many.
pub fn bless(root: &Path, sources: &Sources) -> Result<usize> {
    let Some(list) = sources.find(LIST) else { return Ok(0) };
    let waiting: Vec<Entry> = list.text.lines().filter_map(Entry::read).filter(|entry| entry.is_later).collect();
    let uses = uses(sources, &waiting.iter().collect::<Vec<_>>());
    let is_gone = |entry: &Entry| {
        let is_used = uses.keys().any(|(path, word)| *word == entry.word && entry.covers(path));
        entry.is_later && !is_used && !entry.covers_nothing(sources)
    };
    let mut count = 0;
    let mut text = String::new();
    for line in list.text.lines() {
        let is_active = Entry::read(line).is_some_and(|entry| is_gone(&entry));
        count += usize::from(is_active);
        text += if is_active { line.trim_start_matches(LATER) } else { line };
        text.push('\n');
    }
    if count > 0 {
        std::fs::write(root.join(LIST), text).at(format!("write {LIST}"))?;
    }
    Ok(count)
}

/// One line of the list.
#[derive(Debug, PartialEq, Eq)]
struct Entry<'a> {
    /// Still in the tree; nothing is checked.
    is_later: bool,
    /// With a capital: an identifier as it stands. Else: one or several parts of one.
    word: &'a str,
    replacement: &'a str,
    /// Empty: everywhere.
    place: &'a str,
}

impl<'a> Entry<'a> {
    fn read(line: &'a str) -> Option<Entry<'a>> {
        let (is_later, line) = line.strip_prefix(LATER).map_or((false, line), |rest| (true, rest));
        let (word, rest) = line.split_once(" -> ")?;
        let (replacement, place) = rest.split_once("  in ").unwrap_or((rest, ""));
        let is_word = !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || c == '_');
        let entry = Entry { is_later, word, replacement: replacement.trim(), place: place.trim() };
        (is_word && !entry.replacement.is_empty()).then_some(entry)
    }

    fn covers(&self, path: &str) -> bool {
        path.strip_prefix(self.place)
            .is_some_and(|rest| self.place.is_empty() || rest.starts_with(['/', '.']) || rest.is_empty())
    }

    fn covers_nothing(&self, sources: &Sources) -> bool {
        !sources.rust().any(|source| self.covers(&source.path))
    }

    fn is_in(&self, name: &str, parts: &[String], word: &[String]) -> bool {
        match self.word.starts_with(char::is_uppercase) {
            true => name == self.word,
            false => identifiers::holds(parts, word),
        }
    }
}

/// By file and word: where it stands, and the field's word.
type Uses<'a> = BTreeMap<(&'a str, &'a str), (Use, &'a str)>;

fn uses<'a>(sources: &'a Sources, entries: &[&Entry<'a>]) -> Uses<'a> {
    let entries: Vec<(&Entry, Vec<String>)> =
        entries.iter().map(|entry| (*entry, identifiers::parts(entry.word))).collect();
    let mut uses = Uses::new();
    for source in sources.rust().filter(|source| !source.is_test()) {
        let entries: Vec<_> = entries.iter().filter(|(entry, _)| entry.covers(&source.path)).collect();
        if entries.is_empty() {
            continue;
        }
        for (name, found) in identifiers::of(source) {
            let parts = identifiers::parts(name);
            for (entry, _) in entries.iter().filter(|(entry, word)| entry.is_in(name, &parts, word)) {
                let first = (Use { line: found.line, count: 0 }, entry.replacement);
                let (sum, _) = uses.entry((source.path.as_str(), entry.word)).or_insert(first);
                *sum = Use { line: sum.line.min(found.line), count: sum.count + found.count };
            }
        }
    }
    uses
}

fn is_comment(line: &str) -> bool {
    line.trim().is_empty() || line.starts_with('#')
}

const LIST: &str = "xtask/src/tidy/retired.txt";
const LATER: &str = "later ";

#[cfg(test)]
mod tests {
    use super::super::files::Source;
    use super::*;

    #[test]
    fn finds_retired_words() {
        let file = |path: &str, text: &str| Source { path: path.to_owned(), text: text.to_owned() };
        let list = "# words\nconduit -> FIFO pair\nNext -> iterator of sends  in a/src\nat_once -> immediate  in a/src/x.rs\n\
                    later lead -> eager data  in a\nlead -> eager data  in c\nlead\n";
        let sources = Sources(vec![
            file("a/src/conduits.rs", "fn next() {}\n#[cfg(test)] mod tests { fn conduit() {} }"),
            file("a/src/x.rs", "struct Next;\nfn send_at_once(next: Next) { \"conduit\" } // conduit"),
            file("a/src/y.rs", "fn at_once() { lead() }"),
            file("b/src/x.rs", "struct Next(SmConduit);"),
            file("b/src/tests.rs", "struct Conduit;"),
            file(LIST, list),
        ]);
        let says =
            |place: &str, word: &str, field: &str| format!("{place}: `{word}` is retired: the field says {field}");
        let expected = [
            format!("{LIST}:6: nothing lies below c; correct or remove the line"),
            format!("{LIST}:7: write `word -> the field's word  in folder`"),
            says("a/src/conduits.rs:1", "conduit", "FIFO pair (docs/glossary.md)"),
            says("a/src/x.rs:1", "Next", "iterator of sends (docs/glossary.md), 2 times here"),
            says("a/src/x.rs:2", "at_once", "immediate (docs/glossary.md)"),
            says("b/src/x.rs:1", "conduit", "FIFO pair (docs/glossary.md)"),
        ];
        assert_eq!(check(&sources), expected);
    }
}
