//! Prints one JSON object per launch; `cargo xtask bench launch` makes a table of them.

use bench_launch::constants::{Constants, GIVEN, NAMES};
use bench_launch::launch::{Fault, Launched, launch};
use bench_launch::sizes::Sizes;
use bench_launch::tree::Shape;
use clap::Parser;
use serde::Serialize;
use std::process::ExitCode;

/// Plays launches on a model of hosts and their network
#[derive(Parser)]
struct Options {
    /// Hosts
    #[arg(long, default_value_t = 4096)]
    hosts: u32,
    /// Ranks on each
    #[arg(long, default_value_t = 128)]
    per_host: u32,
    /// So many daemons each starts and speaks with; 0: mpirun with all
    #[arg(long, value_delimiter = ',', default_values_t = [0u32, 2, 4, 8, 16, 32, 64])]
    radix: Vec<u32>,
    /// A file such as constants.txt
    #[arg(long)]
    constants: Option<std::path::PathBuf>,
    /// Each constant half and twice as large, with the last radix
    #[arg(long)]
    sensitivity: bool,
    /// The last host fails after so many ms
    #[arg(long)]
    fault_ms: Option<u64>,
    /// Nothing says so, and it is noticed after so many ms
    #[arg(long, requires = "fault_ms")]
    silence_ms: Option<u64>,
}

#[derive(Serialize)]
struct Point<'a> {
    hosts: u32,
    per_host: u32,
    radix: u32,
    /// A constant and how many times as large it was.
    changed: Option<(&'a str, f64)>,
    orders: u64,
    addresses: u64,
    baseline: u64,
    #[serde(flatten)]
    launched: Launched,
}

fn main() -> ExitCode {
    match play(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(sentence) => {
            eprintln!("bench-launch: {sentence}");
            ExitCode::from(2)
        }
    }
}

fn play(options: &Options) -> Result<(), String> {
    let text = match &options.constants {
        Some(file) => {
            std::fs::read_to_string(file).map_err(|error| format!("cannot read {}: {error}", file.display()))?
        }
        None => GIVEN.to_owned(),
    };
    let constants = Constants::read(&text)?;
    let mut last = None;
    for radix in &options.radix {
        let shape = Shape { hosts: options.hosts, per_host: options.per_host, radix: *radix };
        shape.check()?;
        let sizes = Sizes::new(&shape);
        let fault = options.fault_ms.map(|ms| Fault {
            node: options.hosts as usize,
            at: ms * 1_000_000,
            silence: options.silence_ms.map(|ms| ms * 1_000_000),
        });
        point(&shape, &sizes, &constants, (None, fault));
        last = Some((shape, sizes));
    }
    let Some((shape, sizes)) = last.filter(|_| options.sensitivity) else { return Ok(()) };
    for name in NAMES {
        for times in [0.5, 2.0] {
            point(&shape, &sizes, &constants.scaled(name, times), (Some((name, times)), None));
        }
    }
    Ok(())
}

fn point(shape: &Shape, sizes: &Sizes, constants: &Constants, (changed, fault): (Option<(&str, f64)>, Option<Fault>)) {
    let launched = launch(shape, sizes, constants, fault);
    let point = Point {
        hosts: shape.hosts,
        per_host: shape.per_host,
        radix: shape.radix,
        changed,
        orders: sizes.orders,
        addresses: sizes.all(),
        baseline: sizes.baseline,
        launched,
    };
    println!("{}", serde_json::to_string(&point).expect("plain data"));
}
