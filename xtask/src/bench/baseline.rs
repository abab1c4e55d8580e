//! Another build of this library, to measure a change: a product in a folder, or a commit, built once.

use super::library::Library;
use super::measure::BASELINE;
use crate::failure::{Result, refuse};
use crate::progress::Progress;
use crate::shell;
use crate::tree::{self, Tree};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The product in this folder, or of this commit.
pub fn library(what: &str, thin: bool, tree: &Tree, progress: &Progress) -> Result<Library> {
    let folder = PathBuf::from(what);
    let dist = match folder.join("bin/mpicc").is_file() {
        true => folder,
        false => commit(what, thin, tree, progress)?,
    };
    Library::ours(BASELINE, dist)
}

fn commit(what: &str, thin: bool, tree: &Tree, progress: &Progress) -> Result<PathBuf> {
    let mut git = Command::new("git");
    git.arg("-C").arg(&tree.root).args(["rev-parse", "--verify", "--quiet", &format!("{what}^{{commit}}")]);
    let name = shell::output(&mut git).map_err(|_| {
        refuse(format!(
            "--baseline {what}: neither a folder that `cargo xtask build --out` filled nor a commit of this tree"
        ))
    })?;
    let all = tree.target.join("bench/commits");
    let folder = all.join(name.trim());
    let dist = folder.join(if thin { "dist-thin" } else { "dist" });
    if dist.join("bin/mpicc").is_file() {
        return Ok(dist);
    }
    progress.phase(&format!("build {what} ({})", &name[..12.min(name.len())]), || {
        let sources = folder.join("sources");
        extract(name.trim(), &sources, tree)?;
        let mut cargo = tree::cargo();
        cargo.current_dir(&sources).args([
            "run",
            "--quiet",
            "--package",
            "xtask",
            "--",
            "build",
            "--no-check",
            "--out",
        ]);
        cargo.arg(&dist).args(thin.then_some("--thin"));
        // One for all commits: the dependencies are compiled once.
        cargo.env("CARGO_TARGET_DIR", all.join("target"));
        // Ours, set by the cargo that runs this program.
        cargo.env_remove("CARGO_MANIFEST_DIR");
        shell::run(&mut cargo, progress.verbose)?;
        Ok((dist, String::new()))
    })
}

/// The files of a commit, without touching the user's work tree.
fn extract(commit: &str, sources: &Path, tree: &Tree) -> Result<()> {
    let _ = std::fs::remove_dir_all(sources);
    shell::folder(sources)?;
    let archive = sources.with_extension("tar");
    let mut git = Command::new("git");
    git.arg("-C").arg(&tree.root).args(["archive", "--format=tar", "-o"]).arg(&archive).arg(commit);
    shell::output(&mut git)?;
    let mut tar = Command::new("tar");
    // With the time of today: cargo would take files of an older commit for those that it compiled last.
    tar.arg("--touch").arg("-xf").arg(&archive).arg("-C").arg(sources).stdin(Stdio::null());
    shell::output(&mut tar)?;
    let _ = std::fs::remove_file(archive);
    Ok(())
}
