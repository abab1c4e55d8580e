//! `cargo xtask bench hosts`: jobs on test hosts of this machine. What a launch takes beside a login by ssh and a bare srun, and beside
//! launches of others; and collectives in two levels (coll/han) beside those without.

mod jobs;
mod launches;

use super::library::Library;
use super::sample::{Cell, Output};
use crate::cluster::hosts::{self, Cluster, Life};
use crate::failure::{Result, fail, refuse};
use crate::progress::Progress;
use crate::tree::Tree;
use jobs::{Jobs, succeeded};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Options of `bench hosts`; needs root.
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  cargo xtask bench hosts                        2 hosts with 2 ranks each
  cargo xtask bench hosts --hosts 4 --rounds 20")]
pub struct Options {
    /// How many hosts
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(2..=i64::from(hosts::MOST)))]
    hosts: u32,
    /// Ranks on each
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=64))]
    per_host: u32,
    /// How often each contestant takes its turn
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,
    /// The library, as `cargo xtask build --out` installed it [default: dist in the source tree]
    #[arg(long, value_name = "DIR")]
    dist: Option<PathBuf>,
}

/// Measures and prints.
pub fn run(options: &Options, progress: &Progress) -> Result<()> {
    let tree = Tree::open()?;
    if let Some(why) = hosts::lacks(&tree) {
        return Err(refuse(why));
    }
    let library = Library::ours("hosts", options.dist.clone().unwrap_or_else(|| tree.root.join("dist")))?;
    let folder = tree.target.join("bench/hosts");
    let sources = tree.root.join("benches/c");
    let programs = ["collective", "started"].map(|name| library.compile(&sources, name, &folder));
    let [collective, started] = programs;
    let (collective, started) = (collective?, started?);
    let (others, agent) = (launches::others(&sources, &folder)?, launches::agent(&folder)?);
    let cluster = Cluster::up(&tree, &folder.join("up"), options.hosts, launches::manager(), Life::OfThisThread)?;
    let Options { hosts, per_host, rounds, .. } = *options;
    let jobs = Jobs { hosts, per_host, rounds, library: &library, cluster: &cluster };
    let result = launches::measure(&jobs, &started, &others, &agent, progress)
        .and_then(|()| collectives(&jobs, &collective, progress));
    cluster.down()?;
    result
}

/// Each in turn with coll/han and without.
fn collectives(jobs: &Jobs<'_>, program: &Path, progress: &Progress) -> Result<()> {
    let ways: [(&str, &[&str]); 2] = [("han", &[]), ("flat", &["--mca", "coll", "^han"])];
    let mut cells: BTreeMap<(&str, u64, &str), Cell> = BTreeMap::new();
    progress.phase("collectives", || {
        for _ in 0..jobs.rounds {
            for (flag, sizes) in OPERATIONS {
                for (way, words) in ways {
                    let mut command = jobs.mpirun(words)?;
                    command.arg(program).args([&format!("--{flag}"), "-s", sizes, "-r", "10", "-i", "20", "--json"]);
                    let text = succeeded(&mut command)?;
                    let output = Output::read(&text).map_err(fail)?;
                    jobs.library.verify(&output, jobs.ranks()).map_err(fail)?;
                    for size in &output.sizes {
                        cells.entry((flag, size.size, way)).or_default().add(size, true);
                    }
                }
            }
        }
        Ok(((), String::new()))
    })?;
    println!("Collectives, us of the slowest rank");
    println!(
        "{:<10} {:>8} {:>12} {:>12} {:>12} {:>12} {:>6}",
        "", "bytes", "han, least", "flat, least", "han, median", "flat, median", "ratio"
    );
    for ((flag, size, _), han) in cells.iter().filter(|((_, _, way), _)| *way == "han") {
        let Some(flat) = cells.get(&(*flag, *size, "flat")) else { continue };
        let figure = |value: Option<f64>| value.ok_or_else(|| fail(format!("{flag} has no sample")));
        let (least, flat_least) = (figure(han.best())?, figure(flat.best())?);
        println!(
            "{flag:<10} {size:>8} {least:>12.1} {flat_least:>12.1} {:>12.1} {:>12.1} {:>6.2}",
            figure(han.median())?,
            figure(flat.median())?,
            least / flat_least
        );
    }
    Ok(())
}

/// With sizes for all; a barrier has none.
const OPERATIONS: [(&str, &str); 3] = [
    ("barrier", "8"),
    ("bcast", "8,1024,16384,65536,262144,1048576"),
    ("allreduce", "8,1024,16384,65536,262144,1048576"),
];
