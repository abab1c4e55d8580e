//! One name, one type: no two public types of a crate share a name, and none has a name of Rust's prelude.

use super::files::Sources;
use super::modules::{CrateSource, Item, crates};
use std::collections::{BTreeMap, BTreeSet};

/// Names that are taken twice.
pub fn check(sources: &Sources) -> Vec<String> {
    taken(sources).into_iter().map(|((folder, name), why)| format!("{folder}: {name} is {why}")).collect()
}

/// Crate and name, and why the name should not be.
type Taken<'a> = BTreeMap<(String, &'a str), String>;

fn taken(sources: &Sources) -> Taken<'_> {
    let mut taken = Taken::new();
    for one in crates(sources) {
        for (name, places) in types(&one) {
            // In one file, cfg chooses one of them.
            let files: BTreeSet<&str> = places.iter().filter_map(|place| Some(place.split_once(':')?.0)).collect();
            let places: Vec<&str> = places.iter().map(String::as_str).collect();
            let places = places.join(", ");
            let why = match (PRELUDE.contains(&name), files.len()) {
                (true, _) => format!("a name of Rust's prelude, rename it: {places}"),
                (false, 1) => continue,
                (false, count) => format!("the name of {count} public types, rename all but one: {places}"),
            };
            taken.insert((one.folder.clone(), name), why);
        }
    }
    taken
}

/// Where each public type is defined, but those that the house names alike.
fn types<'a>(one: &CrateSource<'a>) -> BTreeMap<&'a str, BTreeSet<String>> {
    let mut types: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let is_type = |item: &&Item| ["struct", "enum", "union", "trait", "type"].contains(&item.kind) && item.is_public;
    for item in one.modules.iter().flat_map(|module| module.items.iter().filter(is_type)) {
        if !ALIKE.iter().any(|(place, names)| item.file.contains(place) && names.contains(&item.name)) {
            types.entry(item.name).or_default().insert(format!("{}:{}", item.file, item.line));
        }
    }
    types
}

/// Names that the files of one kind share by design: the path says which one is meant.
const ALIKE: &[(&str, &[&str])] = &[
    // Each framework is a trait of components, one of modules, the abilities of these, and their state of a peer.
    ("-core/src/framework/", &["Component", "Module", "Caps", "Endpoint"]),
    // Each subcommand has its command line.
    ("xtask/src/", &["Options"]),
];

const PRELUDE: &[&str] = &[
    "AsMut",
    "AsRef",
    "Box",
    "Clone",
    "Copy",
    "Default",
    "DoubleEndedIterator",
    "Drop",
    "Eq",
    "ExactSizeIterator",
    "Extend",
    "Fn",
    "FnMut",
    "FnOnce",
    "From",
    "FromIterator",
    "Future",
    "Into",
    "IntoFuture",
    "IntoIterator",
    "Iterator",
    "Option",
    "Ord",
    "PartialEq",
    "PartialOrd",
    "Send",
    "Sized",
    "String",
    "Sync",
    "ToOwned",
    "ToString",
    "TryFrom",
    "TryInto",
    "Unpin",
    "Vec",
];

#[cfg(test)]
mod tests {
    use super::super::files::Source;
    use super::*;

    #[test]
    fn finds_names_taken_twice() {
        let file = |path: &str, text: &str| Source { path: path.to_owned(), text: text.to_owned() };
        let sources = Sources(vec![
            file("a/Cargo.toml", ""),
            file(
                "a/src/lib.rs",
                "mod x; mod y; #[cfg(b)] mod on { pub type One = u8; } #[cfg(c)] mod off { pub type One = u16; }",
            ),
            file("a/src/x.rs", "pub struct Next; pub(crate) enum Kind { A } trait Private {} pub type Result<T> = u8;"),
            file(
                "a/src/y.rs",
                "/// One more.\npub(super) union Next { a: u8 } pub trait Sized {} pub trait Private {} fn f() { struct Kind; }",
            ),
            file("b/Cargo.toml", ""),
            file("b/src/lib.rs", "pub struct Next; #[cfg(test)] mod tests { pub struct Next; }"),
        ]);
        let prelude = "a: Sized is a name of Rust's prelude, rename it: a/src/y.rs:2";
        assert_eq!(
            check(&sources),
            ["a: Next is the name of 2 public types, rename all but one: a/src/x.rs:1, a/src/y.rs:2", prelude]
        );
    }
}
