//! The source tree as cargo sees it.

use crate::failure::{At, Result, fail};
use crate::shell;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The workspace that this xtask belongs to.
#[derive(Clone, Debug)]
pub struct Tree {
    /// Where the root Cargo.toml lies.
    pub root: PathBuf,
    /// Cargo's target folder.
    pub target: PathBuf,
    /// Every package of the workspace.
    pub packages: Vec<Package>,
}

/// One package.
#[derive(Clone, Debug)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Where its Cargo.toml lies.
    pub folder: PathBuf,
    /// Its `[package.metadata.ompi]`.
    pub facts: Facts,
}

/// What `[package.metadata.ompi]` can say.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Facts {
    /// Runs on bare metal.
    #[serde(default)]
    pub bare: bool,
    /// Runs under an operating system.
    #[serde(default = "yes")]
    pub hosted: bool,
    /// C symbols that the library exports for this component beside `MPI_*` and `PMPI_*`, such as `munmap`.
    #[serde(default)]
    pub exports: Vec<String>,
    /// A header that it needs.
    #[serde(default)]
    pub header: Option<ForeignHeader>,
}

/// `header` of `[package.metadata.ompi]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ForeignHeader {
    /// What pkg-config knows the library by.
    pub pkg_config: String,
    /// A C file of the component that compiles where the header says what the component says.
    pub check: String,
    /// The package of Debian that brings the header.
    pub package: String,
}

impl Tree {
    /// Asks cargo.
    pub fn open() -> Result<Tree> {
        let here =
            std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
        let root = here.parent().ok_or_else(|| fail("the xtask package has no parent folder"))?.to_path_buf();
        let data = metadata(&root.join("Cargo.toml"))?;
        let packages = data.packages.into_iter().map(Package::from_cargo).collect::<Result<Vec<_>>>()?;
        Ok(Tree { root, target: data.target_directory, packages })
    }

    /// The package of this name, if the tree has it.
    pub fn package(&self, name: &str) -> Option<&Package> {
        self.packages.iter().find(|package| package.name == name)
    }

    /// The folder of a package that must be there.
    pub fn folder(&self, name: &str) -> Result<&Path> {
        let package = self.package(name).ok_or_else(|| fail(format!("this source tree has no package {name}")))?;
        Ok(&package.folder)
    }

    /// Cargo's output for images and tools: one folder for all, apart from the developer's own builds.
    pub fn build_folder(&self) -> PathBuf {
        self.target.join("build")
    }
}

impl Package {
    /// Reads the package whose Cargo.toml lies in `folder`.
    pub fn outside(folder: &Path) -> Result<Package> {
        let manifest = folder.join("Cargo.toml").canonicalize().at(format!("find {}/Cargo.toml", folder.display()))?;
        let found = metadata(&manifest)?.packages.into_iter().find(|package| package.manifest_path == manifest);
        let package = found.ok_or_else(|| {
            fail(format!("{} has no [package] section; name the folder of a crate", manifest.display()))
        })?;
        Package::from_cargo(package)
    }

    fn from_cargo(package: CargoPackage) -> Result<Package> {
        let folder = package.manifest_path.parent().unwrap_or(Path::new("/")).to_path_buf();
        let facts = package.metadata.get("ompi").cloned().unwrap_or_else(|| serde_json::json!({}));
        let facts = serde_json::from_value(facts)
            .at(format!("read [package.metadata.ompi] of {}", package.manifest_path.display()))?;
        Ok(Package { name: package.name, version: package.version, folder, facts })
    }
}

/// The cargo that runs us.
pub fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

fn metadata(manifest: &Path) -> Result<CargoMetadata> {
    let text = shell::output(
        cargo().args(["metadata", "--no-deps", "--format-version", "1", "--manifest-path"]).arg(manifest),
    )?;
    serde_json::from_str(&text).at("read the answer of `cargo metadata`")
}

fn yes() -> bool {
    true
}

#[derive(Deserialize)]
struct CargoMetadata {
    packages: Vec<CargoPackage>,
    target_directory: PathBuf,
}

#[derive(Deserialize)]
struct CargoPackage {
    name: String,
    version: String,
    manifest_path: PathBuf,
    #[serde(default)]
    metadata: serde_json::Value,
}
