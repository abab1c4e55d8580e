//! Size and clock of the machines on an iCE40 HX8K.

use super::missing::need;
use crate::failure::Result;
use crate::shell;
use crate::tree::Tree;
use std::process::Command;

/// Synthesizes, places and routes; a line for each machine.
pub fn synth(tree: &Tree) -> Result<Vec<String>> {
    need(&[("yosys", "yosys"), ("nextpnr-ice40", "nextpnr-ice40")])?;
    TOPS.iter().map(|top| one(tree, top)).collect()
}

fn one(tree: &Tree, top: &str) -> Result<String> {
    let folder = tree.target.join("fpga");
    shell::folder(&folder)?;
    let (netlist, asc) = (folder.join(format!("{top}.json")), folder.join(format!("{top}.asc")));
    let mut yosys = Command::new("yosys");
    yosys.args(["-q", "-p"]);
    let files: Vec<String> = super::lockstep::rtl(tree).iter().map(|path| path.display().to_string()).collect();
    let rtl = tree.root.join("hw/fpga/rtl");
    yosys.arg(format!(
        "read_verilog -I{} {} {}/{top}.v; synth_ice40 -top {top} -json {}",
        rtl.display(),
        files.join(" "),
        rtl.display(),
        netlist.display()
    ));
    shell::output(&mut yosys)?;
    let mut place = Command::new("nextpnr-ice40");
    place.args(["--hx8k", "--package", "ct256", "--seed", "1", "--freq", "100", "--pcf-allow-unconstrained", "--json"]);
    place.arg(&netlist).arg("--asc").arg(&asc).arg("--ignore-loops");
    let outcome = shell::outcome(&mut place, LIMIT)?;
    if !outcome.status.success() {
        return Err(crate::failure::fail(format!("nextpnr-ice40 on {top}:\n{}", outcome.stderr)));
    }
    // The last report of each is after routing.
    let last = |what: &str| {
        outcome
            .stderr
            .lines()
            .rfind(|line| line.contains(what) && (line.contains('%') || line.contains(" ns") || line.contains("MHz")))
            .map(str::trim)
    };
    let after = |line: &str, mark: &str| -> String {
        let words: Vec<&str> = line.split(mark).nth(1).unwrap_or("").split_whitespace().collect();
        words.join(" ")
    };
    let cells = last("ICESTORM_LC:").map(|line| after(line, "ICESTORM_LC:"));
    let pins = last("SB_IO:").map(|line| after(line, "SB_IO:"));
    let clock = last("Max frequency for clock").map(|line| after(line, "':"));
    let delay = last("Max delay <async>").map(|line| after(line, "Max delay"));
    let part = |name: &str, value: Option<String>| value.map(|value| format!(", {name} {value}")).unwrap_or_default();
    Ok(format!(
        "{top}: cells {}{}{}{}",
        cells.unwrap_or_default(),
        part("pins", pins),
        part("clock", clock),
        part("delay", delay)
    ))
}

const TOPS: &[&str] = &["top_classic", "top_celement", "top_channels"];
const LIMIT: std::time::Duration = std::time::Duration::from_secs(600);
