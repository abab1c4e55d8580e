//! Plays the algorithms and prints one JSON object per point; `cargo xtask bench scale` makes tables and pictures of it.

use bench_loggp::machine::Machine;
use bench_loggp::study::{Study, study};
use clap::Parser;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

/// Plays the collective algorithms on a model of a machine (LogGP, nodes with one adapter each)
#[derive(Parser)]
struct Options {
    /// Numbers of ranks
    #[arg(long, value_delimiter = ',', default_values_t = [2usize, 16, 64, 128, 1024, 8192, 100_000])]
    ranks: Vec<usize>,
    /// Ranks of a node
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..))]
    per_node: u32,
    /// Bytes: of the data (bcast, reduce, allreduce, scan) or of one rank's block
    #[arg(long, value_delimiter = ',', default_values_t = [8u64, 1024, 65536, 1 << 20])]
    sizes: Vec<u64>,
    /// Only these functions
    #[arg(long, value_delimiter = ',')]
    functions: Vec<String>,
    /// What the machine costs, instead of the published constants
    #[arg(long, value_name = "FILE")]
    constants: Option<PathBuf>,
    /// Leave out what has more steps than this, all ranks together
    #[arg(long, default_value_t = 20_000_000)]
    limit: usize,
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("bench-loggp: {why}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), String> {
    if options.ranks.contains(&0) {
        return Err("there is no communicator of 0 ranks; --ranks wants numbers from 1 on".to_owned());
    }
    let machine = match &options.constants {
        None => Machine::usual(options.per_node),
        Some(file) => {
            let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
            Machine::from_text(&text, options.per_node).map_err(|why| format!("{}: {why}", file.display()))?
        }
    };
    let plan =
        Study { ranks: &options.ranks, sizes: &options.sizes, functions: &options.functions, limit: options.limit };
    let mut out = io::stdout().lock();
    let mut failed = None;
    study(&machine, &plan, |point| {
        let line = serde_json::to_string(point).expect("plain data");
        if let Err(error) = writeln!(out, "{line}") {
            failed.get_or_insert(error.to_string());
        }
    })?;
    failed.map_or(Ok(()), Err)
}
