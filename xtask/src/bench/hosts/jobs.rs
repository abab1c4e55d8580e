//! Jobs on all test hosts, started from the head.

use crate::bench::library::Library;
use crate::cluster::hosts::Cluster;
use crate::failure::{Result, fail};
use crate::shell;
use std::process::Command;
use std::time::Duration;

/// Jobs of one size.
pub struct Jobs<'a> {
    /// Hosts of the cluster.
    pub hosts: u32,
    /// Ranks on each.
    pub per_host: u32,
    /// How often each contestant takes its turn.
    pub rounds: u32,
    /// Ours.
    pub library: &'a Library,
    /// Where.
    pub cluster: &'a Cluster,
}

impl Jobs<'_> {
    /// Of all hosts.
    pub fn ranks(&self) -> u32 {
        self.hosts * self.per_host
    }

    /// Our mpirun with these options; the program is to be added.
    pub fn mpirun(&self, words: &[&str]) -> Result<Command> {
        let slots: Vec<String> = (1..=self.hosts).map(|host| format!("h{host}:{}", self.per_host)).collect();
        let mpirun = self.library.home.join("bin/mpirun").display().to_string();
        let mut command = self.cluster.command("head", &[mpirun])?;
        command.args(["--host", &slots.join(",")]).args(words);
        Ok(command)
    }
}

/// Runs a job to its end: what it said.
pub fn succeeded(command: &mut Command) -> Result<String> {
    let outcome = shell::outcome(command, LIMIT)?;
    match outcome.status.success() {
        true => Ok(outcome.stdout),
        false => Err(fail(format!("`{}` ended with {}\n{}", shell::line(command), outcome.status, outcome.stderr))),
    }
}

const LIMIT: Duration = Duration::from_secs(120);
