//! `cargo xtask new`: a component's crate, from the template of its framework in components/template.

mod manifest;
mod name;

use crate::build::components::{Catalogue, Policy};
use crate::failure::{At, Result, fail, refuse};
use crate::progress::Progress;
use crate::shell;
use crate::tree::Tree;
use name::Name;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Options of `new`.
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Framework and name of the component, such as btl/mine
    #[arg(value_name = "FRAMEWORK/NAME")]
    name: String,
    /// Make a crate of its own in this folder, outside of the tree
    #[arg(long = "in", value_name = "FOLDER")]
    folder: Option<PathBuf>,
}

/// Makes the crate and says what comes next.
pub fn run(options: &Options, progress: &Progress) -> Result<()> {
    let tree = Tree::open()?;
    let catalogue = Catalogue::read(&tree)?;
    let name = Name::parse(&catalogue, &options.name)?;
    let place = place(&tree, &name, options.folder.as_deref())?;
    let files = files(&tree, &name, &place, options.folder.is_some())?;
    // Beside the place first, so that nobody meets half a crate.
    let stage = place.with_extension(format!("new.{}", std::process::id()));
    let written = files.iter().try_for_each(|(path, text)| shell::write(&stage.join(path), text));
    let made = written.and_then(|()| std::fs::rename(&stage, &place).at(format!("create {}", place.display())));
    if let Err(failure) = made {
        let _ = std::fs::remove_dir_all(&stage);
        return Err(failure);
    }
    if let Err(failure) = format(&tree, &place, &files) {
        progress.note(&format!("not formatted: {}", failure.text));
    }
    println!("{}", next(&tree, &catalogue, &name, &place, options.folder.is_some()));
    Ok(())
}

/// The new crate's folder, where nothing is yet.
fn place(tree: &Tree, name: &Name, folder: Option<&Path>) -> Result<PathBuf> {
    let home = tree.root.join("components");
    let place = match folder {
        None => home.join(&name.framework).join(&name.name),
        Some(_) if name.framework == "atomics" => {
            return Err(refuse(
                "opal-core itself depends on the atomics, so they cannot come from outside; leave --in out",
            ));
        }
        Some(folder) => {
            let folder = std::path::absolute(folder).at(format!("find {}", folder.display()))?;
            if folder.starts_with(&home) {
                return Err(refuse(format!(
                    "--in {}: that is where the components of this tree lie; leave --in out",
                    folder.display()
                )));
            }
            folder.join(name.package())
        }
    };
    match place.exists() {
        true => Err(refuse(format!("{} exists already; choose another name", place.display()))),
        false => Ok(place),
    }
}

/// The template's files under the new name, with what they contain.
fn files(tree: &Tree, name: &Name, place: &Path, outside: bool) -> Result<Vec<(PathBuf, String)>> {
    let template = tree.root.join("components/template").join(&name.framework);
    if !template.join("Cargo.toml").is_file() {
        return Err(fail(format!("framework {} has no template: {} is missing", name.framework, template.display())));
    }
    let mut files = Vec::new();
    walk(&template, &template, &mut files)?;
    for (path, text) in &mut files {
        *text = name.put_into(text);
        if outside && path == Path::new("Cargo.toml") {
            *text = manifest::outside(text, &shell::read(&tree.root.join("Cargo.toml"))?, &tree.root, &template)?;
        }
    }
    if outside {
        // The versions that the tree was tested with, and no look-up in a registry.
        files.push((PathBuf::from("Cargo.lock"), shell::read(&tree.root.join("Cargo.lock"))?));
    }
    files.sort();
    debug_assert!(!place.exists());
    Ok(files)
}

fn walk(root: &Path, folder: &Path, files: &mut Vec<(PathBuf, String)>) -> Result<()> {
    let what = format!("list {}", folder.display());
    for entry in std::fs::read_dir(folder).at(&what)? {
        let path = entry.at(&what)?.path();
        // What cargo leaves where somebody has compiled a template.
        let is_output = ["target", "Cargo.lock"].iter().any(|name| path.ends_with(name));
        match path.is_dir() {
            _ if is_output => {}
            true => walk(root, &path, files)?,
            false => files.push((path.strip_prefix(root).unwrap_or(&path).to_path_buf(), shell::read(&path)?)),
        }
    }
    Ok(())
}

/// A name may be longer than the template's, and stand elsewhere in the alphabet.
fn format(tree: &Tree, place: &Path, files: &[(PathBuf, String)]) -> Result<()> {
    let mut rustfmt = Command::new("rustfmt");
    rustfmt.args(["--edition", "2024", "--config-path"]).arg(tree.root.join("rustfmt.toml"));
    rustfmt.args(files.iter().map(|(path, _)| place.join(path)).filter(|path| path.extension() == Some("rs".as_ref())));
    let outcome = shell::outcome(&mut rustfmt, Duration::from_secs(60))?;
    if outcome.status.success() { Ok(()) } else { Err(fail(outcome.stderr.trim().to_owned())) }
}

/// What people type next.
fn next(tree: &Tree, catalogue: &Catalogue, name: &Name, place: &Path, outside: bool) -> String {
    let full = name.full();
    let shown = place.strip_prefix(&tree.root).unwrap_or(place).display().to_string();
    let (component, test) = match outside {
        true => (shown.clone(), format!("cargo test --manifest-path {shown}/Cargo.toml")),
        false => (full.clone(), format!("cargo test -p {}", name.package())),
    };
    let policy = catalogue.framework(&name.framework).map(|framework| framework.policy);
    let mut text = format!(
        "made {shown}\nIt declines, with a sentence, until it is written. Its comments say what to fill in, step by step; step 1 \
         is in src/{}.\n\nNext:\n",
        if name.framework == "atomics" { "lib.rs" } else { "component.rs" }
    );
    if name.framework == "atomics" {
        text += &format!("{}\n", atomics(&name.name));
    }
    // The check of a product starts programs, which a static component ends as long as it declines.
    let unchecked = if policy == Some(Policy::Static) && name.framework != "atomics" { " --no-check" } else { "" };
    text += &format!(
        "  cargo xtask build --components default,{component}{unchecked}\n  dist/bin/ompi_info\n  {test}\n\
         The last one runs the suite of framework {}, which fails until it is written.\n\n",
        name.framework
    );
    text + &choosing(catalogue, name, &component, policy)
}

/// How it comes to run instead of others.
fn choosing(catalogue: &Catalogue, name: &Name, component: &str, policy: Option<Policy>) -> String {
    let others: Vec<&str> = catalogue
        .of(&name.framework)
        .filter(|other| other.package.facts.hosted && other.name != name.full())
        .map(|other| other.name.as_str())
        .collect();
    let others = others.join(",");
    match policy {
        Some(Policy::Static) => format!(
            "Framework {} is static: a library has exactly one of it, and the one that --components names takes the place of \
             the default.\nWhile it declines every program ends in MPI_Init with its sentence.",
            name.framework
        ),
        Some(Policy::One) => format!(
            "One component of framework {} runs, the one with the highest priority. Others are left out when the library is \
             built,\n  cargo xtask build --components default,{component} --exclude {others}\nor for one run,\n  dist/bin/mpirun \
             --mca {} {} -n 2 ./hello\nThe programs of tests/c with it:\n  cargo xtask test --components default,{component} \
             --exclude {others} c",
            name.framework, name.framework, name.name
        ),
        _ => format!(
            "All components of framework {} that can run do. To see what became of it:\n  dist/bin/mpirun --mca \
             {}_base_verbose 20 -n 2 ./hello\nThe programs of tests/c with it:\n  cargo xtask test --components \
             default,{component} c",
            name.framework, name.framework
        ),
    }
}

/// What is particular to a framework below opal-core.
fn atomics(name: &str) -> String {
    format!(
        "  opal-core/Cargo.toml: [target.'cfg(ompi_atomics = \"{name}\")'.dependencies] with atomics-{name} below it, and\n    \
         atomics-core for not(any(…)) of all others\n  opal-core/src/sync.rs: #[cfg(ompi_atomics = \"{name}\")] pub(crate) \
         use atomics_{name} as component;\n    and not(any(…)) at atomics_core's\n  Cargo.toml: \"{name}\" among the values of \
         cfg(ompi_atomics) in [workspace.lints.rust]"
    )
}

const EXAMPLES: &str = "\
Examples:
  cargo xtask new btl/mine                 components/btl/mine, a member of this workspace
  cargo xtask new memcpy/mine --in ..      ../memcpy-mine, a crate of its own
  cargo xtask build --components default,../memcpy-mine

docs/adding/transport.md and its neighbours walk through a transport, a collective algorithm and a framework.";
