//! `cargo xtask bench scale`: the collective algorithms on a model of machines that nobody here has.

use super::machine;
use super::output::NO_FONT;
use super::plot;
use super::result::{Contestant, Figure, Measured, SizeLine, Table};
use super::rows::Unit;
use crate::failure::{At, Result, refuse};
use crate::progress::Progress;
use crate::{shell, tree};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Options of `bench scale`.
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  cargo xtask bench scale                                     all functions, 2 to 100,000 ranks in nodes of 64
  cargo xtask bench scale --functions allreduce --per-node 128
  cargo xtask bench scale --constants mine.txt --plot scale   your machine; benches/loggp/constants.txt shows the form")]
pub struct Options {
    /// Numbers of ranks
    #[arg(long, value_name = "LIST", default_value = "2,16,64,128,512,1024,8192,65536,100000")]
    ranks: String,
    /// Ranks of a node
    #[arg(long, value_name = "N", default_value_t = 64)]
    per_node: u32,
    /// Bytes: of the data (bcast, reduce, allreduce, scan) or of one rank's block
    #[arg(long, value_name = "LIST", default_value = "8,1024,16384,65536,1048576")]
    sizes: String,
    /// Only these: barrier, bcast, reduce, allreduce, allgather, alltoall, reduce_scatter_block, scan
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    functions: Vec<String>,
    /// What the machine costs, instead of benches/loggp/constants.txt
    #[arg(long, value_name = "FILE")]
    constants: Option<PathBuf>,
    /// Leave out what has more steps than this, all ranks together
    #[arg(long, value_name = "N", default_value_t = 20_000_000)]
    limit: usize,
    /// Write the points to this file, one JSON object per line
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Draw time over ranks into this folder, as SVG and PNG
    #[arg(long, value_name = "DIR")]
    plot: Option<PathBuf>,
}

/// What the simulator says of one algorithm.
#[derive(Deserialize)]
struct Point {
    function: String,
    algorithm: String,
    ranks: u64,
    bytes: u64,
    us: f64,
    messages_between: u64,
    sent_between: u64,
}

/// Plays, prints, draws.
pub fn run(options: &Options, progress: &Progress) -> Result<()> {
    let text = progress.phase("play the algorithms", || {
        let text = shell::output(&mut simulator(options))?;
        let points = format!("{} points", text.lines().count());
        Ok((text, points))
    })?;
    let points: Vec<Point> = text
        .lines()
        .map(|line| serde_json::from_str(line).at("read what the simulator said"))
        .collect::<Result<_>>()?;
    if points.is_empty() {
        return Err(refuse(
            "nothing is left to simulate: --functions names no function, or all have more steps than --limit allows; \
             `cargo xtask bench scale --help` lists the functions",
        ));
    }
    println!("A model, no measurement: time in us until the last rank is done. - means more steps than --limit.");
    let functions: BTreeSet<&str> = points.iter().map(|point| point.function.as_str()).collect();
    for function in functions {
        let mine: Vec<&Point> = points.iter().filter(|point| point.function == function).collect();
        print(function, &mine);
        if let Some(folder) = &options.plot {
            draw(function, &mine, folder, progress)?;
        }
    }
    if let Some(file) = &options.json {
        shell::write(file, &text)?;
        progress.note(&format!("points in {}", file.display()));
    }
    Ok(())
}

fn simulator(options: &Options) -> std::process::Command {
    let mut command = tree::cargo();
    command.args(["run", "--release", "--quiet", "-p", "bench-loggp", "--", "--ranks", &options.ranks]);
    command.args(["--per-node", &options.per_node.to_string(), "--sizes", &options.sizes]);
    command.args(["--limit", &options.limit.to_string()]);
    if !options.functions.is_empty() {
        command.args(["--functions", &options.functions.join(",")]);
    }
    if let Some(file) = &options.constants {
        command.arg("--constants").arg(file);
    }
    command
}

fn numbers(of: impl Iterator<Item = u64>) -> Vec<u64> {
    of.collect::<BTreeSet<u64>>().into_iter().collect()
}

fn names<'a>(points: &[&'a Point]) -> Vec<&'a str> {
    let mut names = Vec::new();
    for point in points {
        if !names.contains(&point.algorithm.as_str()) {
            names.push(&point.algorithm);
        }
    }
    names
}

/// A line per number of ranks and size; the fastest algorithm, and what crosses between nodes then.
fn print(function: &str, points: &[&Point]) {
    let names = names(points);
    let mut head = format!("\n{function}\n{:>7} {:>8}", "ranks", "bytes");
    names.iter().for_each(|name| head += &format!(" {name:>18}"));
    println!("{head}  fastest, its messages and MB between nodes");
    for ranks in numbers(points.iter().map(|point| point.ranks)) {
        for bytes in numbers(points.iter().map(|point| point.bytes)) {
            let here = |name: &str| {
                points.iter().find(|one| one.ranks == ranks && one.bytes == bytes && one.algorithm == name)
            };
            let mut line = format!("{ranks:7} {bytes:8}");
            for name in &names {
                line += &here(name).map_or(format!(" {:>18}", "-"), |point| format!(" {:>18.2}", point.us));
            }
            let fastest = names.iter().filter_map(|name| here(name)).min_by(|a, b| a.us.total_cmp(&b.us));
            let Some(best) = fastest else { continue };
            let mb = best.sent_between as f64 / 1e6;
            println!("{line}  {}, {}, {mb:.1}", best.algorithm, best.messages_between);
        }
    }
}

/// One picture per size: time over ranks.
fn draw(function: &str, points: &[&Point], folder: &Path, progress: &Progress) -> Result<()> {
    let names = names(points);
    let ranks = numbers(points.iter().map(|point| point.ranks));
    let line = |bytes: u64, ranks: u64| SizeLine {
        label: None,
        size: ranks,
        figures: names.iter().map(|name| figure(points, name, bytes, ranks)).collect(),
        raw: None,
        best_peer: None,
        ratio: None,
        baseline_ratio: None,
        aim: None,
    };
    let row = |bytes: u64| Measured {
        name: format!("scale-{function}-{bytes}"),
        title: format!("modelled time of {function}, {bytes} bytes"),
        ranks: ranks.last().copied().unwrap_or(0) as u32,
        over: "ranks".to_owned(),
        crowded: false,
        rounds: 1,
        samples: 1,
        unit: Unit::Us,
        sizes: ranks.iter().map(|ranks| line(bytes, *ranks)).collect(),
        failures: Vec::new(),
    };
    let contestant =
        |name: &&str| Contestant { name: (*name).to_owned(), version: String::new(), settings: Vec::new() };
    let table = Table {
        format: 2,
        machine: machine::look(),
        seconds: 0.0,
        libraries: names.iter().map(contestant).collect(),
        rows: numbers(points.iter().map(|point| point.bytes)).into_iter().map(row).collect(),
    };
    if !plot::draw(&table, folder)?.1 {
        progress.note(NO_FONT);
    }
    Ok(())
}

fn figure(points: &[&Point], name: &str, bytes: u64, ranks: u64) -> Option<Figure> {
    let found = points.iter().find(|one| one.algorithm == name && one.bytes == bytes && one.ranks == ranks)?;
    Some(Figure { best: Some(found.us), median: None, clean: 1, disturbed: 0 })
}
