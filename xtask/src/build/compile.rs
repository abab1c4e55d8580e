//! Calls of cargo for the parts of the product.
//!
//! Flags for rustc go by way of the environment of that one call; the flags of xtask itself stay as they are. They
//! are few and mostly none, because cargo compiles everything again when they change: each set has an output folder
//! of its own, and tools and library share crates by sharing the empty set.

use crate::build::resolve::Choice;
use crate::failure::{At, Result, fail};
use crate::progress::Progress;
use crate::shell;
use crate::tree::{self, Tree};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The cfgs that a choice of components asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    cfgs: Vec<(&'static str, String)>,
    /// The target of a bare image.
    bare: Option<String>,
}

impl Flags {
    /// For programs that know nothing of the choice.
    pub fn none() -> Flags {
        Flags::default()
    }

    /// For programs that contain the components but do not move messages: the atomics only, and `core` is what
    /// opal-core takes when nothing is said.
    pub fn listing(choice: &Choice) -> Flags {
        let atomics = choice.components.iter().filter(|component| component.is_atomics());
        let names = atomics.map(|component| component.name.trim_start_matches("atomics/").to_owned());
        let cfgs = names.filter(|name| name != "core").map(|name| ("ompi_atomics", name)).collect();
        Flags { cfgs, bare: None }
    }

    /// For the library: also `ompi_direct="pml"` and `ompi_direct="pml/ob1"` for each component called directly.
    pub fn library(choice: &Choice) -> Flags {
        let mut flags = Flags::listing(choice);
        for name in &choice.direct {
            let framework = name.split('/').next().unwrap_or_default().to_owned();
            flags.cfgs.extend([("ompi_direct", framework), ("ompi_direct", name.clone())]);
        }
        flags
    }

    /// For an image without an operating system, compiled for this target.
    pub fn bare(choice: &Choice, target: &str) -> Flags {
        Flags { bare: Some(target.to_owned()), ..Flags::library(choice) }
    }

    /// What rustc compiles for.
    fn target(&self) -> Result<String> {
        self.bare.clone().map_or_else(host, Ok)
    }

    /// Where cargo puts what these flags make.
    fn folder(&self, tree: &Tree) -> PathBuf {
        let bare = self.bare.iter().map(|_| "bare".to_owned());
        let values: Vec<String> = bare.chain(self.cfgs.iter().map(|(_, value)| value.replace('/', "_"))).collect();
        tree.build_folder().join(values.join("-"))
    }

    fn rustflags(&self, tree: &Tree) -> String {
        let mut flags: Vec<String> = match std::env::var("RUSTFLAGS") {
            Ok(user) => user.split_whitespace().map(str::to_owned).collect(),
            Err(_) => Vec::new(),
        };
        for (name, value) in &self.cfgs {
            flags.extend(["--cfg".to_owned(), format!("{name}={value:?}")]);
        }
        if self.bare.is_some() {
            // The image lies where it is linked, interrupts come on any stack, and a report lists the callers.
            let model = ["ompi_bare", "-Crelocation-model=static", "-Ccode-model=small", "-Cno-redzone=yes"];
            flags.push("--cfg".to_owned());
            flags.extend(model.map(str::to_owned));
            flags.push("-Cforce-frame-pointers=yes".to_owned());
        }
        // Messages with a place in the source should not tell where the builder keeps it.
        flags.push(format!("--remap-path-prefix={}/=", tree.root.display()));
        flags.join("\u{1f}")
    }
}

/// One call of cargo.
#[derive(Debug)]
pub struct Call<'a> {
    /// The workspace it belongs to.
    pub tree: &'a Tree,
    /// The Cargo.toml to build.
    pub manifest: &'a Path,
    /// Which profile.
    pub profile: &'a str,
    /// Which cfgs.
    pub flags: Flags,
}

impl Call<'_> {
    /// Builds; `more` are further arguments.
    pub fn build(&self, more: &[&str], progress: &Progress) -> Result<()> {
        self.cargo("build", more, progress)
    }

    /// Compiles the library of one package to an archive with Rust's own symbols still in it.
    pub fn archive(&self, package: &str, features: &str, progress: &Progress) -> Result<PathBuf> {
        let what = ["--package", package, "--lib", "--features", features, "--crate-type", "staticlib"];
        self.cargo("rustc", &what, progress)?;
        self.product(&format!("lib{}.a", package.replace('-', "_")))
    }

    fn cargo(&self, command: &str, more: &[&str], progress: &Progress) -> Result<()> {
        let mut cargo = tree::cargo();
        cargo.arg(command).arg("--manifest-path").arg(self.manifest).args(more);
        cargo.arg("--target-dir").arg(self.flags.folder(self.tree));
        cargo.args(["--profile", self.profile, "--target", &self.flags.target()?]);
        cargo.args((!progress.verbose).then_some("--quiet"));
        cargo.env("CARGO_ENCODED_RUSTFLAGS", self.flags.rustflags(self.tree)).env_remove("CARGO_TARGET_DIR");
        // What defmt's macros compile in: everything. The boot line's log= chooses among it.
        cargo.env("DEFMT_LOG", "trace");
        shell::run(&mut cargo, progress.verbose)
    }

    /// Files of this name that build scripts of a crate left.
    pub fn script_outputs(&self, package: &str, file: &str) -> Result<Vec<PathBuf>> {
        let scripts = self.flags.folder(self.tree).join(self.flags.target()?).join(self.profile).join("build");
        let entries = std::fs::read_dir(&scripts).at(format!("list {}", scripts.display()))?;
        let ours = entries.filter_map(std::result::Result::ok).filter(|entry| {
            let name = entry.file_name();
            name.to_str().and_then(|name| name.strip_prefix(package)).is_some_and(|rest| rest.starts_with('-'))
        });
        Ok(ours.map(|entry| entry.path().join("out").join(file)).filter(|path| path.is_file()).collect())
    }

    /// A file that cargo made.
    pub fn product(&self, file: &str) -> Result<PathBuf> {
        let path = self.flags.folder(self.tree).join(self.flags.target()?).join(self.profile).join(file);
        if path.is_file() {
            Ok(path)
        } else {
            Err(fail(format!("cargo succeeded but did not make {}", path.display())))
        }
    }
}

/// The target that rustc compiles for when nobody says otherwise. Named to cargo, so that our flags reach the
/// product's crates but not build scripts and procedural macros.
pub fn host() -> Result<String> {
    static HOST: OnceLock<String> = OnceLock::new();
    if let Some(host) = HOST.get() {
        return Ok(host.clone());
    }
    let text = shell::output(rustc().arg("-vV"))?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    let host = host.ok_or_else(|| fail("`rustc -vV` names no host"))?.to_owned();
    Ok(HOST.get_or_init(|| host).clone())
}

/// The compiler that cargo would take.
pub fn rustc() -> Command {
    Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
}
