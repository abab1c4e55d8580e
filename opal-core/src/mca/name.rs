//! Names people type: lists of components and the nearest name to a mistyped one.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// A selection list: `a,b` (only these, in this order) or `^a,b` (all but these).
#[derive(Debug, PartialEq, Eq)]
pub enum Selection<'a> {
    /// Nothing was said.
    All,
    /// Only these.
    Only(Vec<&'a str>),
    /// All but these.
    Without(Vec<&'a str>),
}

impl<'a> Selection<'a> {
    /// Reads a list; blanks around names and empty names are ignored.
    pub fn parse(text: &'a str) -> Selection<'a> {
        let text = text.trim();
        let (without, list) = match text.strip_prefix('^') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let names: Vec<&str> = list.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
        match (names.is_empty(), without) {
            (true, _) => Selection::All,
            (false, true) => Selection::Without(names),
            (false, false) => Selection::Only(names),
        }
    }

    /// Whether a component of this name is wanted.
    pub fn wants(&self, name: &str) -> bool {
        match self {
            Selection::All => true,
            Selection::Only(names) => names.iter().any(|wanted| canonical(wanted) == name),
            Selection::Without(names) => !names.iter().any(|unwanted| canonical(unwanted) == name),
        }
    }

    /// The names it mentions.
    pub fn names(&self) -> &[&'a str] {
        match self {
            Selection::All => &[],
            Selection::Only(names) | Selection::Without(names) => names,
        }
    }
}

/// What is wrong with a selection that names a component which is not among `have`, as a sentence. To leave out what is
/// not there is no mistake. `from` says where the list came from.
pub fn unknown_name(framework: &str, list: &Selection<'_>, mut have: Vec<&str>, from: &str) -> Option<String> {
    let Selection::Only(names) = list else { return None };
    let typed = names.iter().find(|typed| !have.contains(&canonical(typed)))?;
    crate::sort::ascending(&mut have);
    let hint = nearest(canonical(typed), have.iter().copied());
    let hint = hint.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
    Some(format!(
        "framework {framework} has no component {typed} ({from}){hint}; this library has: {}",
        have.join(", ")
    ))
}

/// Open MPI's older names for what exists here under another one.
pub fn canonical(name: &str) -> &str {
    match name {
        "vader" => "sm",
        other => other,
    }
}

/// The candidate nearest to what was typed, if one is near enough to be meant (edit distance at most a third). Of several
/// one with the same first letter.
pub fn nearest<'a>(typed: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .map(|candidate| {
            let begins_otherwise = candidate.as_bytes().first() != typed.as_bytes().first();
            (distance(typed.as_bytes(), candidate.as_bytes()), begins_otherwise, candidate)
        })
        .filter(|(distance, _, candidate)| *distance <= 1 + candidate.len().max(typed.len()) / 3)
        .min()
        .map(|(_, _, candidate)| candidate)
}

/// Levenshtein's edit distance, one row at a time.
fn distance(a: &[u8], b: &[u8]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let change = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = change.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn selection_lists() {
        assert_eq!(Selection::parse(" "), Selection::All);
        assert_eq!(Selection::parse("sm, self"), Selection::Only(vec!["sm", "self"]));
        assert_eq!(Selection::parse("^tcp,sm"), Selection::Without(vec!["tcp", "sm"]));
        assert!(Selection::parse("vader").wants("sm"));
        assert!(!Selection::parse("^vader").wants("sm"));
        assert!(Selection::parse("^tcp").wants("sm"));
    }

    #[test]
    fn nearest_name() {
        let names = ["sm", "self", "tcp"];
        assert_eq!(nearest("slef", names.into_iter()), Some("self"));
        assert_eq!(nearest("tpc", names.into_iter()), Some("tcp"));
        assert_eq!(nearest("npp", ["app", "np"].into_iter()), Some("np"));
        assert_eq!(nearest("infiniband", names.into_iter()), None);
        assert_eq!(distance(b"kitten", b"sitting"), 3);
    }
}
