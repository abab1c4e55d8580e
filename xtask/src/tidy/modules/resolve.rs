//! The item that a path names.

use super::CrateSource;
use std::collections::BTreeSet;

/// What a name stands for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target<'a> {
    /// A module by its index.
    Module(usize),
    /// Something that a module defines.
    Item(Found<'a>),
}

/// An item, by the file that defines it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Found<'a> {
    /// Its file.
    pub file: String,
    /// Its name.
    pub name: &'a str,
}

type Seen<'a> = BTreeSet<(usize, &'a str)>;

impl<'a> CrateSource<'a> {
    /// All that this path may stand for in that module. Empty: something of another crate, a local name.
    pub fn resolve(&self, module: usize, path: &[&'a str]) -> BTreeSet<Target<'a>> {
        self.follow(module, path, &mut Seen::new())
    }

    /// Whether the last name of this path is defined where the rest of it leads.
    pub fn defines(&self, module: usize, path: &[&'a str]) -> bool {
        let Some((name, rest)) = path.split_last() else { return false };
        self.resolve(module, rest).into_iter().any(|target| match target {
            Target::Module(place) => !self.lookup(place, name, &mut Seen::new()).is_empty(),
            Target::Item(_) => false,
        })
    }

    fn follow(&self, module: usize, path: &[&'a str], seen: &mut Seen<'a>) -> BTreeSet<Target<'a>> {
        let Some((head, rest)) = path.split_first() else { return BTreeSet::new() };
        let mut targets = match *head {
            "crate" => [Target::Module(0)].into(),
            "self" => [Target::Module(module)].into(),
            "super" => [Target::Module(self.modules[module].parent)].into(),
            name => self.lookup(module, name, seen),
        };
        for name in rest {
            targets = targets.into_iter().flat_map(|target| self.step(target, name, seen)).collect();
        }
        targets
    }

    /// A macro may define what is not found: then it belongs to the module's own file.
    fn step(&self, target: Target<'a>, name: &'a str, seen: &mut Seen<'a>) -> BTreeSet<Target<'a>> {
        let Target::Module(module) = target else { return [target].into() };
        if name == "super" {
            return [Target::Module(self.modules[module].parent)].into();
        }
        let found = self.lookup(module, name, seen);
        match found.is_empty() && !self.knows(module, name) {
            true => [Target::Item(Found { file: self.modules[module].file.clone(), name })].into(),
            false => found,
        }
    }

    /// A name of another crate, or a module that was left out.
    fn knows(&self, module: usize, name: &str) -> bool {
        let place = &self.modules[module];
        place.children.contains_key(name) || place.imports.iter().any(|import| import.name == name)
    }

    /// The meanings of a name in a module.
    fn lookup(&self, module: usize, name: &'a str, seen: &mut Seen<'a>) -> BTreeSet<Target<'a>> {
        if !seen.insert((module, name)) {
            return BTreeSet::new();
        }
        let place = &self.modules[module];
        let children = place.children.get(name).into_iter().flatten().map(|child| Target::Module(*child));
        let items = place.items.iter().filter(|item| item.name == name);
        let items = items.map(|item| Target::Item(Found { file: item.file.clone(), name }));
        let mut targets: BTreeSet<Target> = children.chain(items).collect();
        for import in place.imports.iter().filter(|import| import.name == name) {
            targets.extend(self.follow(module, &import.path, seen));
        }
        if targets.is_empty() {
            for import in place.imports.iter().filter(|import| import.name == "*") {
                for target in self.follow(module, &import.path, seen) {
                    match target {
                        Target::Module(other) => targets.extend(self.lookup(other, name, seen)),
                        Target::Item(_) => {}
                    }
                }
            }
        }
        seen.remove(&(module, name));
        targets
    }
}
