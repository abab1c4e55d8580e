//! `cargo xtask bench launch`: the launch of large jobs on a model of a network.

use crate::failure::{At, Result};
use crate::progress::Progress;
use crate::{shell, tree};
use serde::Deserialize;
use std::path::PathBuf;

/// Options of `bench launch`.
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  cargo xtask bench launch                                 4096 hosts with 128 ranks each, trees of radix 2 to 64
  cargo xtask bench launch --hosts 64 --radix 64 --sensitivity
  cargo xtask bench launch --fault-ms 500 --silence-ms 30000")]
pub struct Options {
    /// Hosts
    #[arg(long, value_name = "N", default_value_t = 4096)]
    hosts: u32,
    /// Ranks on each
    #[arg(long, value_name = "N", default_value_t = 128)]
    per_host: u32,
    /// So many daemons each starts and speaks with; 0: mpirun with all
    #[arg(long, value_name = "LIST", default_value = "0,2,4,8,16,32,64")]
    radix: String,
    /// What hosts and wires cost, instead of benches/launch/constants.txt
    #[arg(long, value_name = "FILE")]
    constants: Option<PathBuf>,
    /// Each constant half and twice as large, with the last radix
    #[arg(long)]
    sensitivity: bool,
    /// The last host fails after so many ms
    #[arg(long, value_name = "N")]
    fault_ms: Option<u64>,
    /// Nothing says so, and it is noticed after so many ms
    #[arg(long, value_name = "N", requires = "fault_ms")]
    silence_ms: Option<u64>,
    /// Write the points to this file, one JSON object per line
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// One launch.
#[derive(Deserialize)]
struct Point {
    radix: u32,
    changed: Option<(String, f64)>,
    orders: u64,
    addresses: u64,
    baseline: u64,
    called_ms: f64,
    began_ms: f64,
    wired_ms: f64,
    root_sent: u64,
    root_received: u64,
    most_sent: u64,
    known_ms: Option<f64>,
    over_ms: Option<f64>,
}

/// Plays and prints.
pub fn run(options: &Options, progress: &Progress) -> Result<()> {
    let mut command = tree::cargo();
    command.args(["run", "--release", "--quiet", "-p", "bench-launch", "--", "--radix", &options.radix]);
    command.args(["--hosts", &options.hosts.to_string(), "--per-host", &options.per_host.to_string()]);
    let number = |value: Option<u64>| value.map(|value| value.to_string());
    let path = options.constants.as_ref().map(|path| path.display().to_string());
    let more =
        [("--fault-ms", number(options.fault_ms)), ("--silence-ms", number(options.silence_ms)), ("--constants", path)];
    for (option, value) in more {
        command.args(value.into_iter().flat_map(|value| [option.to_owned(), value]));
    }
    command.args(options.sensitivity.then_some("--sensitivity"));
    let text = progress.phase("play launches", || {
        let text = shell::output(&mut command)?;
        let points = format!("{} points", text.lines().count());
        Ok((text, points))
    })?;
    print(options, &text)?;
    if let Some(file) = &options.json {
        shell::write(file, &text)?;
        progress.note(&format!("points in {}", file.display()));
    }
    Ok(())
}

fn print(options: &Options, text: &str) -> Result<()> {
    let points = text.lines().map(|line| serde_json::from_str(line).at("read what the simulator said"));
    let points: Vec<Point> = points.collect::<Result<_>>()?;
    let Some(first) = points.first() else { return Ok(()) };
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    println!(
        "{} hosts with {} ranks each. Modelled, not measured: times in ms from the start of mpirun.",
        options.hosts, options.per_host
    );
    println!(
        "Each daemon is told {} bytes of orders and learns {:.1} MiB of addresses; of strings it would be {:.1} MiB.",
        first.orders,
        mib(first.addresses),
        mib(first.baseline)
    );
    println!(
        "{:>5} {:>10} {:>10} {:>10} {:>11} {:>11} {:>11}  ",
        "radix", "called", "ranks run", "wired", "root sends", "root gets", "most sends"
    );
    for point in &points {
        let Point { radix, changed, called_ms, began_ms, wired_ms, root_sent, root_received, most_sent, .. } = point;
        let changed = changed.as_ref().map_or(String::new(), |(name, times)| format!("{name} x {times}"));
        let fault = match (point.known_ms, point.over_ms) {
            (Some(known), Some(over)) => format!("fault known at {known:.1}, over at {over:.1}"),
            (Some(known), None) => format!("fault known at {known:.1}"),
            _ => String::new(),
        };
        let (sent, got, most) = (mib(*root_sent), mib(*root_received), mib(*most_sent));
        println!(
            "{radix:>5} {called_ms:>10.1} {began_ms:>10.1} {wired_ms:>10.1} {sent:>7.1} MiB {got:>7.1} MiB {most:>7.1} MiB  \
             {changed}{fault}"
        );
    }
    Ok(())
}
