//! The programs of dist/bin: compiled in a cargo call of their own, so that what they ask of shared crates (std above
//! all) cannot reach the library.

use crate::failure::Result;
use crate::progress::Progress;
use crate::shell;
use crate::tree::{self, Tree};
use std::path::PathBuf;

/// A package, the name of its program, and further names it answers to.
#[derive(Debug)]
pub struct Tool {
    /// Package and program.
    pub name: &'static str,
    /// What it is called in dist/bin: the first is a file, the others point to it.
    pub installed: &'static [&'static str],
}

/// All of them, but for `ompi_info`, which is part of each image.
pub const TOOLS: &[Tool] = &[
    Tool { name: "mpicc", installed: &["mpicc", "mpicxx", "mpic++"] },
    Tool { name: "mpirun", installed: &["mpirun", "mpiexec"] },
];

/// Compiles those that this tree has; returns them with the path of the program.
pub fn build(tree: &Tree, progress: &Progress) -> Result<Vec<(&'static Tool, PathBuf)>> {
    let present: Vec<&Tool> = TOOLS.iter().filter(|tool| tree.package(tool.name).is_some()).collect();
    let mut cargo = tree::cargo();
    cargo.arg("build").arg("--manifest-path").arg(tree.root.join("Cargo.toml"));
    cargo.arg("--target-dir").arg(tree.build_folder()).args(["--profile", "tool"]);
    cargo.args((!progress.verbose).then_some("--quiet"));
    for tool in &present {
        cargo.args(["--package", tool.name]);
    }
    shell::run(&mut cargo, progress.verbose)?;
    let folder = tree.build_folder().join("tool");
    Ok(present.into_iter().map(|tool| (tool, folder.join(tool.name))).collect())
}
