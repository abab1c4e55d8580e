//! The programs of dist/bin: compiled in a cargo call of their own, so that what they ask of shared crates (std above
//! all) cannot reach the library.

use crate::build::compile::{Call, Flags};
use crate::failure::Result;
use crate::progress::Progress;
use crate::tree::Tree;
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
    Tool { name: "mpicc", installed: &["mpicc", "mpicxx", "mpic++", "mpiCC", "mpifort", "mpif77", "mpif90"] },
    Tool { name: "mpirun", installed: &["mpirun", "mpiexec"] },
];

/// Compiles those that this tree has; returns them with the path of the program.
pub fn build(tree: &Tree, progress: &Progress) -> Result<Vec<(&'static Tool, PathBuf)>> {
    let present: Vec<&Tool> = TOOLS.iter().filter(|tool| tree.package(tool.name).is_some()).collect();
    if present.is_empty() {
        return Ok(Vec::new());
    }
    let manifest = tree.root.join("Cargo.toml");
    let call = Call { tree, manifest: &manifest, profile: "tool", flags: Flags::none() };
    let packages: Vec<&str> = present.iter().flat_map(|tool| ["--package", tool.name]).collect();
    call.build(&packages, progress)?;
    present.into_iter().map(|tool| Ok((tool, call.product(tool.name)?))).collect()
}
