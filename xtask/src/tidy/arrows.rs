//! Allowed dependencies: opal-core <- orte-core <- ompi-core; a component on the layer that holds its framework and
//! below, on no other component; hw on opal-core and hw; transports also on what those over libraries of fabrics have in common.

use super::files::Sources;
use crate::build::components::Catalogue;
use crate::failure::{At, Result};
use crate::shell;
use crate::tree::{self, Tree};
use serde::Deserialize;
use std::path::PathBuf;

/// Arrows that point the wrong way.
pub fn check(tree: &Tree) -> Result<Vec<String>> {
    let catalogue = Catalogue::read(tree)?;
    let mut findings = Vec::new();
    for package in packages(tree)? {
        let place = Place::of(tree, &package);
        let Some(allowed) = allowed(tree, &catalogue, &package, &place) else { continue };
        // What tests depend on is in no product.
        for dependency in
            package.dependencies.iter().filter(|one| one.path.is_some() && one.kind.as_deref() != Some("dev"))
        {
            if !allowed.iter().any(|name| {
                dependency.name == *name
                    || name.strip_suffix('*').is_some_and(|start| dependency.name.starts_with(start))
            }) {
                findings.push(format!(
                    "{} depends on {}; it may depend on {}",
                    package.name,
                    dependency.name,
                    if allowed.is_empty() { "nothing of this tree".to_owned() } else { allowed.join(", ") }
                ));
            }
        }
    }
    Ok(findings)
}

/// Crates of the library that would bring std along.
pub fn no_std(tree: &Tree, sources: &Sources) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    for package in packages(tree)? {
        let place = Place::of(tree, &package);
        let is_library = matches!(place, Place::Core(_) | Place::Component(_) | Place::Hw)
            || ["ompi-image", IMAGE, FABRIC].contains(&package.name.as_str());
        // No crate can depend on a program, nor on a library for other linkers.
        let is_lib = |kind: &String| kind == "lib";
        if !is_library || !package.targets.iter().any(|target| target.kind.iter().any(is_lib)) {
            continue;
        }
        let folder = package.folder(tree);
        let source = sources.find(&format!("{folder}/src/lib.rs"));
        if !source.is_some_and(|source| source.text.contains("#![no_std]")) {
            findings.push(format!("{folder}/src/lib.rs: no #![no_std]; everything in libmpi_abi is without std"));
        }
    }
    Ok(findings)
}

/// Packages without a sentence on what they are.
pub fn descriptions(tree: &Tree) -> Result<Vec<String>> {
    let silent =
        packages(tree)?.into_iter().filter(|package| package.description.as_deref().unwrap_or("").trim().is_empty());
    Ok(silent
        .map(|package| {
            format!("{}/Cargo.toml: no description; say in a sentence what the crate is", package.folder(tree))
        })
        .collect())
}

/// Unit tests that cargo was told not to compile: they would be listed and never run.
pub fn dead_tests(tree: &Tree, sources: &Sources) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    for package in packages(tree)? {
        let folder = package.folder(tree);
        let off = package.targets.iter().any(|target| target.kind.iter().any(|kind| kind == "lib") && !target.test);
        let mut inside = sources.rust().filter(|source| source.path.starts_with(&format!("{folder}/src/")));
        if let Some(source) = inside.find(|source| off && source.text.contains("#[test]")) {
            findings.push(format!(
                "{folder}/Cargo.toml says `test = false`, but {} has tests, which would never run; remove that line",
                source.path
            ));
        }
    }
    Ok(findings)
}

/// Where in the house a package stands.
#[derive(Debug, PartialEq, Eq)]
enum Place {
    /// A layer: 0 opal, 1 orte, 2 ompi.
    Core(usize),
    /// A component of this framework.
    Component(String),
    /// A device.
    Hw,
    /// A program or a facade of a layer.
    Tool(usize),
    /// Tests, benches, xtask: whatever they like.
    Elsewhere,
}

const LAYERS: [&str; 3] = ["opal-core", "orte-core", "ompi-core"];

impl Place {
    fn of(tree: &Tree, package: &Package) -> Place {
        let folder = package.folder(tree);
        let mut parts = folder.split('/');
        let (first, second) = (parts.next().unwrap_or(""), parts.next());
        match (LAYERS.iter().position(|layer| *layer == first), first, second) {
            (Some(layer), _, None) => Place::Core(layer),
            (Some(layer), _, Some(_)) => Place::Tool(layer),
            (None, "components", Some(framework)) => Place::Component(framework.to_owned()),
            (None, "hw", _) => Place::Hw,
            _ => Place::Elsewhere,
        }
    }
}

/// Packages of this tree that may be named; `*` at the end stands for any rest. `None`: all.
fn allowed(tree: &Tree, catalogue: &Catalogue, package: &Package, place: &Place) -> Option<Vec<String>> {
    let up_to = |layer: usize| LAYERS[..=layer].iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    match place {
        Place::Elsewhere => None,
        _ if package.name == IMAGE => None,
        Place::Hw => Some(vec!["opal-core".to_owned(), "hw-*".to_owned()]),
        // The one exception: atomics are leaf crates below layer 1, so that they inline in every build.
        Place::Core(0) => Some(vec!["atomics-*".to_owned()]),
        Place::Core(layer) => Some(up_to(layer - 1)),
        Place::Component(framework) if framework == "atomics" => Some(Vec::new()),
        Place::Component(framework) => {
            let mut names = up_to(layer_of(tree, framework).unwrap_or(0));
            let drives_a_device = package.dependencies.iter().any(|one| one.name.starts_with("hw-"));
            names.extend(drives_a_device.then(|| "hw-*".to_owned()));
            names.extend((framework == "btl").then(|| FABRIC.to_owned()));
            debug_assert!(catalogue.framework(framework).is_some());
            Some(names)
        }
        // A derive macro belongs to its crate and can only be a crate of its own.
        Place::Tool(layer) => {
            let macros = format!("{}-derive", package.name);
            // What names the components of a program that Cargo builds is linked by the crate that such a program takes.
            let image = (package.name == "ompi").then(|| IMAGE.to_owned());
            Some(up_to(*layer).into_iter().chain([macros]).chain(image).collect())
        }
    }
}

/// What transports over libraries of fabrics have in common.
const FABRIC: &str = "opal-fabric";
/// Names components, which stand above all layers.
const IMAGE: &str = "ompi-components";

/// The lowest layer with a file for this framework.
fn layer_of(tree: &Tree, framework: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| tree.root.join(layer).join(format!("src/framework/{framework}.rs")).exists())
}

fn packages(tree: &Tree) -> Result<Vec<Package>> {
    let mut cargo = tree::cargo();
    cargo.args(["metadata", "--no-deps", "--format-version", "1", "--manifest-path"]).arg(tree.root.join("Cargo.toml"));
    let metadata: Metadata =
        serde_json::from_str(&shell::output(&mut cargo)?).at("read the answer of `cargo metadata`")?;
    Ok(metadata.packages)
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    description: Option<String>,
    manifest_path: PathBuf,
    dependencies: Vec<Dependency>,
    targets: Vec<Target>,
}

#[derive(Deserialize)]
struct Target {
    kind: Vec<String>,
    test: bool,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    kind: Option<String>,
    path: Option<PathBuf>,
}

impl Package {
    /// Below the root, with `/`.
    fn folder(&self, tree: &Tree) -> String {
        let folder = self.manifest_path.parent().unwrap_or(&self.manifest_path);
        folder.strip_prefix(&tree.root).unwrap_or(folder).to_string_lossy().into_owned()
    }
}
