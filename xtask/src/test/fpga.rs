//! The barrier machine: its test benches, its Verilog against its Rust model, and programs whose barriers it does.

use super::{Session, Verdict, deadline};
use crate::failure::{At, Result, fail};
use crate::{fpga, shell, tree};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// `fpga/…`.
pub fn tier(session: &mut Session) -> Result<()> {
    session.case("fpga/benches", |session| verdict(fpga::benches(&session.tree)));
    session.case("fpga/lockstep", |session| {
        // 13 has no factor in common with the number of states, so that all bits of the state vary.
        let (stride, ticks) = if session.options.all { (1, 2_000_000) } else { (13, 200_000) };
        verdict(fpga::verify(&session.tree, stride, ticks, 1))
    });
    for run in RUNS {
        for ranks in [2, 3, 4, 8] {
            session.case(&format!("fpga/{}_{ranks}", run.name), |session| {
                barriers(session, run, ranks).unwrap_or_else(Verdict::from)
            });
        }
    }
    Ok(())
}

/// Barriers by wire, on emulated ports.
struct Run {
    name: &'static str,
    machine: &'static [&'static str],
    component: &'static [&'static str],
    what: &'static str,
    /// Of the machine's nodes beyond the job's.
    strangers: usize,
    /// At least so many port accesses for each barrier and node: the wires did it, not software.
    by_wire: bool,
    barriers: usize,
}

const RUNS: &[Run] = &[
    Run {
        name: "classic",
        machine: &["--classic"],
        component: &["coll_hwbarr_mode", "classic"],
        what: "world",
        strangers: 0,
        by_wire: true,
        barriers: 15_000,
    },
    Run {
        name: "channels",
        machine: &["--channels"],
        component: &["coll_hwbarr_mode", "channels"],
        what: "several",
        strangers: 0,
        by_wire: true,
        barriers: 10_000,
    },
    // The machine forgets everything again and again: a classic one goes on where it was, channels end in software.
    Run {
        name: "classic_restarts",
        machine: &["--classic", "--restart-ms", "40"],
        component: &["coll_hwbarr_timeout_ms", "500"],
        what: "world",
        strangers: 0,
        by_wire: false,
        barriers: 2_000,
    },
    Run {
        name: "channels_restarts",
        machine: &["--channels", "--restart-ms", "150"],
        component: &["coll_hwbarr_mode", "channels", "coll_hwbarr_timeout_ms", "200"],
        what: "several",
        strangers: 0,
        by_wire: false,
        barriers: 2_000,
    },
    // A node that is not of the job never arrives: the first barrier is late, and decided in software.
    Run {
        name: "late",
        machine: &["--classic"],
        component: &["coll_hwbarr_timeout_ms", "300"],
        what: "world",
        strangers: 1,
        by_wire: false,
        barriers: 500,
    },
];

fn barriers(session: &mut Session, run: &Run, ranks: usize) -> Result<Verdict> {
    let machine = machine(session)?;
    let library = session.library().map_err(fail)?;
    let folder = session.scratch().join("fpga");
    shell::folder(&folder)?;
    let program = folder.join("barriers");
    let mut compiler = Command::new(library.dist.join("bin/mpicc"));
    compiler.args(["-O1", "-Wall", "-o"]).arg(&program).arg(session.tree.root.join("xtask/src/test/fpga/barriers.c"));
    shell::output(&mut compiler)?;
    let page = folder.join("page");
    let _ = std::fs::remove_file(&page);
    let count = run.barriers * if session.options.all { 60 } else { 1 };
    let mut command = Command::new(machine);
    command.args(["--say", "--nodes", &(ranks + run.strangers).to_string()]).args(run.machine);
    command.arg(library.dist.join("bin/mpirun")).args([
        "-n",
        &ranks.to_string(),
        "--mca",
        "coll_hwbarr_port",
        "emulated",
    ]);
    run.component.chunks(2).for_each(|pair| _ = command.arg("--mca").args(pair));
    command.arg(&program).arg(&page).args([&count.to_string(), run.what]);
    let ended = deadline::run(&mut command, LIMIT, &folder.join(format!("{}_{ranks}.log", run.name)))?;
    if !ended.ended_with(0) || !ended.out.contains(" barriers") {
        return Ok(Verdict::Failed(ended.story()));
    }
    let said = ended.err.lines().find_map(|line| line.strip_prefix("tuc-fpga: "));
    let said = said.ok_or_else(|| fail("the machine does not say how often its ports were accessed"))?;
    let accesses: usize = said.split(' ').next().unwrap_or("").parse().at("read the number of port accesses")?;
    // A write and two readings, of those who are members of a channel in every round.
    Ok(match !run.by_wire || accesses >= count * 3 {
        true => Verdict::Passed(said.to_owned()),
        false => Verdict::Failed(format!("{count} barriers were not done by wire: {said}")),
    })
}

/// The program at the other end of the cables.
fn machine(session: &Session) -> Result<PathBuf> {
    let mut cargo = tree::cargo();
    cargo.args(["build", "--quiet", "--package", "hw-rig", "--bin", "tuc-fpga", "--message-format"]);
    cargo.arg("json-render-diagnostics").arg("--manifest-path").arg(session.tree.root.join("Cargo.toml"));
    let messages = shell::output(&mut cargo)?;
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let mut programs = messages.filter_map(|message| message["executable"].as_str().map(Path::new).map(Path::to_owned));
    programs.next_back().ok_or_else(|| fail("cargo built tuc-fpga, but names no program"))
}

fn verdict(result: Result<Vec<String>>) -> Verdict {
    match result {
        Ok(lines) => Verdict::Passed(lines.last().cloned().unwrap_or_default()),
        Err(failure) if failure.status == fpga::MISSING => Verdict::Skipped(failure.text),
        Err(failure) => failure.into(),
    }
}

const LIMIT: Duration = Duration::from_secs(120);
