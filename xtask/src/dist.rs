//! The product on disk: `lib`, `include`, `bin` and `share`, put together in a staging folder and then installed file
//! by file, so that a program that runs from the old one keeps it and a failed build leaves the old one alone.
//!
//! Relocatable: the wrappers find the rest from their own path, pkg-config from the place of its file.

use crate::archive::{SHARED, STATIC};
use crate::failure::{At, Result};
use crate::manual;
use crate::resolve::Choice;
use crate::shell;
use crate::tools::Tool;
use crate::tree::Tree;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// What goes in beside the libraries.
#[derive(Debug)]
pub struct Parts<'a> {
    /// Where from.
    pub tree: &'a Tree,
    /// What was built.
    pub choice: &'a Choice,
    /// Built with thin instead of fat link-time optimization.
    pub thin: bool,
    /// Programs.
    pub tools: &'a [(&'static Tool, PathBuf)],
    /// `ompi_info` with the image's components.
    pub info: Option<&'a Path>,
}

/// Puts everything but the libraries into `stage`.
pub fn assemble(parts: &Parts, stage: &Path) -> Result<()> {
    let bin = stage.join("bin");
    for (tool, program) in parts.tools {
        copy(program, &bin.join(tool.installed[0]))?;
        for other in &tool.installed[1..] {
            symlink(tool.installed[0], bin.join(other)).at(format!("create {}", bin.join(other).display()))?;
        }
    }
    if let Some(info) = parts.info {
        copy(info, &bin.join("ompi_info"))?;
    }
    let core = parts.tree.folder("ompi-core")?;
    copy(&core.join("include/mpi.h"), &stage.join("include/mpi.h"))?;
    let version = parts.tree.package("ompi-core").map_or("", |package| &package.version);
    for name in ["ompi-rs", "mpi-c"] {
        shell::write(&stage.join(format!("lib/pkgconfig/{name}.pc")), &pkgconfig(version))?;
    }
    manual::write(stage, version)?;
    let share = stage.join("share/ompi-rs");
    shell::write(&share.join("components.json"), &components(parts, version))?;
    if parts.info.is_some() {
        let table = shell::output(std::process::Command::new(bin.join("ompi_info")).arg("--params-json"))?;
        shell::write(&share.join("params.json"), &table)?;
    }
    Ok(())
}

/// Copies a finished `stage` over `out`.
pub fn install(stage: &Path, out: &Path) -> Result<()> {
    shell::folder(out)?;
    for entry in fs::read_dir(stage).at(format!("list {}", stage.display()))? {
        let from = entry.at(format!("list {}", stage.display()))?.path();
        let Some(name) = from.file_name() else { continue };
        let to = out.join(name);
        if from.is_dir() && !from.is_symlink() {
            install(&from, &to)?;
            continue;
        }
        let new = out.join(format!(".{}.new", name.to_string_lossy()));
        let _ = fs::remove_file(&new);
        match fs::read_link(&from) {
            Ok(target) => symlink(target, &new).at(format!("create {}", new.display()))?,
            Err(_) => copy(&from, &new)?,
        }
        fs::rename(&new, &to).at(format!("replace {}", to.display()))?;
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    if let Some(folder) = to.parent() {
        shell::folder(folder)?;
    }
    fs::copy(from, to).map(drop).at(format!("copy {} to {}", from.display(), to.display()))
}

fn components(parts: &Parts, version: &str) -> String {
    let components = parts.choice.components.iter().map(|component| {
        serde_json::json!({
            "name": component.name,
            "package": component.package.name,
            "version": component.package.version,
            "outside": component.outside,
        })
    });
    let text = serde_json::json!({
        "version": version,
        "lto": if parts.thin { "thin" } else { "fat" },
        "components": components.collect::<Vec<_>>(),
        "direct": parts.choice.direct,
    });
    format!("{text:#}\n")
}

/// Names the archive by its path: `-lmpi_abi` would take the shared library where both lie.
fn pkgconfig(version: &str) -> String {
    format!(
        "prefix=${{pcfiledir}}/../..\nlibdir=${{prefix}}/lib\nincludedir=${{prefix}}/include\n\n\
         Name: ompi-rs\nDescription: MPI with the standard ABI, linked statically ({STATIC}); {SHARED} lies beside it\n\
         Version: {version}\nCflags: -I${{includedir}}\nLibs: ${{libdir}}/{STATIC} -pthread\n"
    )
}
