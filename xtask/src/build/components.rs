//! The catalogue of the source tree: frameworks, read from their one file each, and components, one crate each.

use crate::failure::{At, Result, fail, refuse};
use crate::shell;
use crate::tree::{Package, Tree};
use std::path::{Path, PathBuf};

/// How many of a framework's components run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// All that can.
    Many,
    /// The best of those that accept.
    One,
    /// Exactly one is built in.
    Static,
}

/// One framework.
#[derive(Clone, Debug)]
pub struct Framework {
    /// As users type it.
    pub name: String,
    /// How many run.
    pub policy: Policy,
}

/// One component.
#[derive(Clone, Debug)]
pub struct Component {
    /// `btl/sm`.
    pub name: String,
    /// `btl`.
    pub framework: String,
    /// Its crate.
    pub package: Package,
    /// From a path outside this tree.
    pub outside: bool,
}

/// All of them.
#[derive(Debug)]
pub struct Catalogue {
    /// Sorted by name.
    pub frameworks: Vec<Framework>,
    /// Those of the tree, sorted by name.
    pub components: Vec<Component>,
}

impl Component {
    /// The crate's name in Rust source.
    pub fn ident(&self) -> String {
        self.package.name.replace('-', "_")
    }

    /// opal-core itself depends on the atomics and registers them.
    pub fn is_atomics(&self) -> bool {
        self.framework == "atomics"
    }
}

impl Catalogue {
    /// Reads the tree.
    pub fn read(tree: &Tree) -> Result<Catalogue> {
        let mut frameworks = Vec::new();
        for layer in ["opal-core", "orte-core", "ompi-core"] {
            let folder = tree.folder(layer)?.join("src/framework");
            for file in rust_files(&folder)? {
                frameworks.extend(
                    framework_in(&shell::read(&file)?).map_err(|why| fail(format!("{}: {why}", file.display())))?,
                );
            }
        }
        frameworks.sort_by(|a, b| a.name.cmp(&b.name));
        let mut catalogue = Catalogue { frameworks, components: Vec::new() };
        let home = tree.root.join("components");
        for package in tree.packages.iter().filter(|package| package.folder.starts_with(&home)) {
            let component = catalogue.component(package.clone(), false)?;
            catalogue.components.push(component);
        }
        catalogue.components.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(catalogue)
    }

    /// The framework of this name.
    pub fn framework(&self, name: &str) -> Option<&Framework> {
        self.frameworks.iter().find(|framework| framework.name == name)
    }

    /// The component of this name, `btl/sm`.
    pub fn find(&self, name: &str) -> Option<&Component> {
        self.components.iter().find(|component| component.name == name)
    }

    /// The components of a framework.
    pub fn of<'a>(&'a self, framework: &'a str) -> impl Iterator<Item = &'a Component> {
        self.components.iter().filter(move |component| component.framework == framework)
    }

    /// The component in a folder outside the tree.
    pub fn outside(&self, path: &str) -> Result<Component> {
        let folder = PathBuf::from(path);
        if !folder.join("Cargo.toml").is_file() {
            return Err(refuse(format!(
                "`{path}` has no Cargo.toml; name the folder of a component's crate, or a component of this tree such \
                 as btl/sm"
            )));
        }
        let component = self.component(Package::outside(&folder)?, true)?;
        if let Some(ours) = self.find(&component.name) {
            return Err(refuse(format!(
                "`{path}` is a second {} beside {}; give its package another name",
                component.name,
                ours.package.folder.display()
            )));
        }
        if component.is_atomics() {
            return Err(refuse(format!(
                "`{path}`: opal-core itself depends on the atomics, so they cannot come from outside; put the crate \
                 into components/atomics and name it in opal-core/Cargo.toml"
            )));
        }
        Ok(component)
    }

    fn component(&self, package: Package, outside: bool) -> Result<Component> {
        let parts = package.name.split_once('-');
        let parts = parts.filter(|(framework, _)| self.framework(framework).is_some());
        let Some((framework, name)) = parts else {
            let known: Vec<&str> = self.frameworks.iter().map(|framework| framework.name.as_str()).collect();
            return Err(refuse(format!(
                "{}: package.name is `{}`, but a component is named <framework>-<name>, such as btl-sm; frameworks \
                 are {}",
                package.folder.join("Cargo.toml").display(),
                package.name,
                known.join(", ")
            )));
        };
        let place = Path::new(framework).join(name);
        if !outside && !package.folder.ends_with(&place) {
            return Err(fail(format!(
                "{} lies in {}, not in components/{}",
                package.name,
                package.folder.display(),
                place.display()
            )));
        }
        Ok(Component { name: format!("{framework}/{name}"), framework: framework.to_owned(), package, outside })
    }
}

fn rust_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).at(format!("list {}", folder.display()))? {
        let path = entry.at(format!("list {}", folder.display()))?.path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(files)
}

/// Finds the `framework! { … "btl", Opal, version 1, ManyOfMany, …` of a framework's file.
fn framework_in(source: &str) -> std::result::Result<Option<Framework>, String> {
    let mut lines = source.lines().map(str::trim);
    if !lines.any(|line| !line.starts_with("//") && line.ends_with("framework! {")) {
        return Ok(None);
    }
    let row = lines.find(|line| line.starts_with('"')).ok_or("framework! without a row that begins with its name")?;
    let words: Vec<&str> = row.split(',').map(str::trim).collect();
    let name = words[0].trim_matches('"').to_owned();
    let policy = match words.get(3) {
        Some(&"ManyOfMany") => Policy::Many,
        Some(&"OneOfMany") => Policy::One,
        Some(&"Static") => Policy::Static,
        _ => return Err(format!("framework! `{row}`: no policy after the version")),
    };
    Ok(Some(Framework { name, policy }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_framework() {
        let source = "//! framework! {\nopal_core::framework! {\n    /// Doc.\n    \"ess\", Orte, version 1, OneOfMany, X: dyn C\n}";
        let framework = framework_in(source).unwrap().unwrap();
        assert_eq!((framework.name.as_str(), framework.policy), ("ess", Policy::One));
        assert!(framework_in("pub mod btl;").unwrap().is_none());
        assert!(framework_in("framework! {\n\"ess\", Orte, version 1, Some, X\n}").is_err());
    }
}
