//! The product on disk: `lib`, `include`, `bin` and `share`, put together in a staging folder and then installed file
//! by file, so that a program that runs from the old one keeps it and a failed build leaves the old one alone.
//!
//! Relocatable: the wrappers find the rest from their own path, pkg-config from the place of its file.

use crate::build::archive::{FORTRAN, SHARED, STATIC};
use crate::build::image::Lto;
use crate::build::manual;
use crate::build::provenance;
use crate::build::resolve::Choice;
use crate::build::tools::Tool;
use crate::failure::{At, Result};
use crate::shell;
use crate::tree::Tree;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// Which form of the library mpicc links by default.
#[derive(clap::ValueEnum, Clone, Copy, Debug, Default, Hash, PartialEq, Eq)]
pub enum Linking {
    /// libmpi_abi.so.1, with a run path: tools and plug-ins share the program's MPI
    #[default]
    Shared,
    /// libmpi_abi.a: a program needs no file of this library at run time
    Static,
}

/// What goes in beside the libraries.
#[derive(Debug)]
pub struct Parts<'a> {
    /// Where from.
    pub tree: &'a Tree,
    /// What was built.
    pub choice: &'a Choice,
    /// Which link-time optimization it had.
    pub lto: Lto,
    /// What its wrappers link.
    pub link: Linking,
    /// Programs.
    pub tools: &'a [(&'static Tool, PathBuf)],
    /// `ompi_info` with the image's components.
    pub info: Option<&'a Path>,
    /// Fortran's library and modules are there.
    pub fortran: bool,
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
    for header in HEADERS {
        copy(&core.join("include").join(header), &stage.join("include").join(header))?;
    }
    let version = parts.tree.package("ompi-core").map_or("", |package| &package.version);
    let share = stage.join("share/ompi-rs");
    shell::write(&share.join("link"), if parts.link == Linking::Shared { "shared\n" } else { "static\n" })?;
    for name in PKG_CONFIG {
        let text = pkgconfig(name, version, parts.link, false, "-pthread");
        shell::write(&stage.join(format!("lib/pkgconfig/{name}.pc")), &text)?;
    }
    if parts.fortran {
        let private = private_flags(&bin)?;
        for name in PKG_CONFIG_FORTRAN {
            let text = pkgconfig(name, version, parts.link, true, &private);
            shell::write(&stage.join(format!("lib/pkgconfig/{name}.pc")), &text)?;
        }
    }
    // For programs with the archive inside: plug-ins that they load must find their MPI.
    shell::write(&share.join("mpi.list"), "{ MPI_*; PMPI_*; mpi_*; pmpi_*; };\n")?;
    copy(&core.join("gdb/ompi_rs.py"), &share.join("gdb.py"))?;
    for name in ["ompi_rs_objects.py", "ompi_rs_queues.py", "ompi_rs_words.py"] {
        copy(&core.join("gdb").join(name), &share.join("gdb").join(name))?;
    }
    manual::write(stage, core, version)?;
    shell::write(&share.join("components.json"), &components(parts, version)?)?;
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

fn components(parts: &Parts, version: &str) -> Result<String> {
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
        "lto": parts.lto.word(),
        "components": components.collect::<Vec<_>>(),
        "direct": parts.choice.direct,
        "build": provenance::facts(parts.tree)?,
    });
    Ok(format!("{text:#}\n"))
}

/// What a program includes: the standard ABI, and beside it what is inline only.
pub const HEADERS: [&str; 3] = ["mpi.h", "mpi_fint.h", "mpi_removed.h"];

/// Our own name, Open MPI's, and what programs ask for that know neither.
const PKG_CONFIG: &[&str] = &["ompi-rs", "ompi", "ompi-c", "ompi-cxx", "mpi", "mpi-c", "mpi-cxx"];
const PKG_CONFIG_FORTRAN: &[&str] = &["ompi-rs-fortran", "ompi-fort", "ompi-f77", "ompi-f90", "mpi-fort"];

/// What `mpifort -static` passes to the linker beside the libraries.
fn private_flags(bin: &Path) -> Result<String> {
    let all = shell::output(std::process::Command::new(bin.join("mpifort")).args(["-static", "--showme:link"]))?;
    Ok(all
        .split_whitespace()
        .filter(|word| word.starts_with("-Wl,-u") || *word == "-pthread")
        .collect::<Vec<_>>()
        .join(" "))
}

/// The archives stand there by their paths: `-lmpi_abi` would take the shared library where both lie.
fn pkgconfig(name: &str, version: &str, link: Linking, fortran: bool, private: &str) -> String {
    let (mut own, mut own_archive, mut modules) = ("", String::new(), "");
    if fortran {
        (own, modules) = (" -lmpi_abi_fortran", " -I${libdir}/fortran");
        own_archive = format!("${{libdir}}/{} ", FORTRAN.archive);
    }
    let libraries = match link {
        Linking::Shared => format!("-L${{libdir}} -Wl,-rpath,${{libdir}}{own} -lmpi_abi"),
        Linking::Static => {
            format!("{own_archive}${{libdir}}/{STATIC} -Wl,--dynamic-list=${{prefix}}/share/ompi-rs/mpi.list -pthread")
        }
    };
    format!(
        "prefix=${{pcfiledir}}/../..\nlibdir=${{prefix}}/lib\nincludedir=${{prefix}}/include\n\n\
         Name: {name}\nDescription: ompi-rs, an MPI library with the standard ABI ({SHARED}, {STATIC})\n\
         Version: {version}\nCflags: -I${{includedir}}{modules}\nLibs: {libraries}\nLibs.private: {private}\n"
    )
}
