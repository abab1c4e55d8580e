//! The rig: the machine as a process beside a job, whose ranks have emulated ports.

use crate::failure::{Result, fail};
use crate::tree::{self, Tree};
use crate::{build, shell};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Compiles the program at the other end of the cables.
pub fn machine(tree: &Tree) -> Result<PathBuf> {
    let mut cargo = tree::cargo();
    cargo.args(["build", "--quiet", "--package", "hw-rig", "--bin", "tuc-fpga", "--message-format"]);
    cargo.arg("json-render-diagnostics").arg("--manifest-path").arg(tree.root.join("Cargo.toml"));
    let messages = shell::output(&mut cargo)?;
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let mut programs = messages.filter_map(|message| message["executable"].as_str().map(Path::new).map(Path::to_owned));
    programs.next_back().ok_or_else(|| fail("cargo built tuc-fpga, but names no program"))
}

/// Compiles the program whose barriers are watched.
pub fn program(tree: &Tree, dist: &Path, folder: &Path) -> Result<PathBuf> {
    shell::folder(folder)?;
    let program = folder.join("barriers");
    let mut compiler = Command::new(dist.join("bin/mpicc"));
    compiler.args(["-O1", "-Wall", "-o"]).arg(&program).arg(tree.root.join("xtask/src/test/fpga/barriers.c"));
    shell::output(&mut compiler)?;
    Ok(program)
}

/// `cargo xtask fpga rig …`: tuc-fpga with these arguments.
pub fn run(tree: &Tree, arguments: &[String]) -> Result<()> {
    shell::run(Command::new(machine(tree)?).args(arguments), true)
}

/// A library to measure with: this one, or the default one built into cargo's target folder.
pub fn library(tree: &Tree, dist: Option<&Path>, progress: &crate::progress::Progress) -> Result<PathBuf> {
    if let Some(dist) = dist {
        return Ok(dist.to_path_buf());
    }
    let options = build::Options { thin: true, out: Some(tree.target.join("dist-test")), ..Default::default() };
    Ok(build::build(&options, progress)?.dist)
}
