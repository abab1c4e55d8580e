//! The test benches under Icarus Verilog.

use super::missing::need;
use crate::failure::{Result, fail};
use crate::shell;
use crate::tree::Tree;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// Runs all test benches; a line for each.
pub fn benches(tree: &Tree) -> Result<Vec<String>> {
    need(&[("iverilog", "iverilog")])?;
    let folder = tree.target.join("fpga");
    shell::folder(&folder)?;
    BENCHES.iter().map(|bench| one(tree, &folder.join(bench), bench)).collect()
}

fn one(tree: &Tree, program: &PathBuf, bench: &str) -> Result<String> {
    let hardware = tree.root.join("hw/fpga");
    let mut compiler = Command::new("iverilog");
    compiler
        .args(["-g2005", "-Wall", "-Wno-timescale", "-s", bench, "-I"])
        .arg(hardware.join("rtl"))
        .arg("-o")
        .arg(program);
    compiler.args(super::lockstep::rtl(tree)).arg(hardware.join(format!("sim/{bench}.v")));
    shell::output(&mut compiler)?;
    let outcome = shell::outcome(Command::new("vvp").arg("-n").arg(program), LIMIT)?;
    let last = outcome.stdout.lines().find(|line| line.starts_with("passed")).map(str::to_owned);
    match last {
        Some(line) if outcome.status.success() => Ok(format!("{bench} {line}")),
        _ => Err(fail(format!("{bench}:\n{}{}", outcome.stdout, outcome.stderr))),
    }
}

const BENCHES: &[&str] = &["bench_classic", "bench_channels"];
const LIMIT: Duration = Duration::from_secs(120);
