//! `cargo xtask bench hpcc`: HPC Challenge on this library and on others.
//!
//! One launch gives all figures: a linear solver, transposes, random updates, Fourier transforms and rings, which the program
//! times itself, and the wall clock of the whole. It is compiled for each library with its own mpicc and the same flags, and a
//! launch whose answers do not hold has no figures. Nobody pins its ranks, as nobody is asked to when a user starts it.

use super::library::{Library, is_crowded};
use super::measure::compared;
use super::output::of_programs;
use super::product::MeasuredBuild;
use super::result::{Contestant, Figure, Measured, Table};
use super::rows::{PLAIN, Row, Unit};
use super::sample::Output;
use super::{launch, machine, peers};
use crate::failure::{Result, fail};
use crate::progress::Progress;
use crate::test::hpcc::{ENVIRONMENT, Problem, compiled_with, prepare, report};
use crate::tree::Tree;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Options of `bench hpcc`.
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Compare with other libraries: openmpi, mpich, openmpi-debian, mpich-debian
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    against: Vec<String>,
    #[command(flatten)]
    product: MeasuredBuild,
    /// Ranks of a launch, one table for each number
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "2,4", value_parser = clap::value_parser!(u32).range(1..=4))]
    ranks: Vec<u32>,
    /// Order of the matrices
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = clap::value_parser!(u32).range(100..=20_000))]
    order: u32,
    /// How often each contestant takes its turn
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,
    /// Write all figures to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// A figure of its report, and what to multiply it with.
struct Part {
    row: &'static str,
    title: &'static str,
    key: &'static str,
    times: f64,
    unit: Unit,
}

/// Measures, prints, writes.
pub fn run(options: &Options, progress: &Progress) -> Result<()> {
    let tree = Tree::open()?;
    let libraries = peers::beside_ours(&options.against, &options.product, &tree, progress)?;
    let folder = tree.target.join("bench/hpcc");
    let (start, machine) = (Instant::now(), machine::look());
    let mut contestants = Vec::new();
    for library in &libraries {
        contestants.push(progress.phase(&format!("hpcc for {}", library.name), || {
            let program = compiled_with(&library.compiler, &folder.join(&library.name), &tree.target)
                .map_err(|missing| fail(format!("hpcc for {}: {}", library.name, missing.text)))?;
            let version = version(library, &tree, &folder)?;
            Ok((One { library, program, version }, String::new()))
        })?);
    }
    let mut rows = Vec::new();
    for ranks in &options.ranks {
        rows.extend(progress.phase(&format!("hpcc with {ranks} ranks"), || {
            let rows = measured(&contestants, &libraries, (*ranks, options.order, options.rounds), &folder)?;
            Ok((rows, String::new()))
        })?);
    }
    let said = |one: &One<'_>| {
        let (name, settings) = (one.library.name.clone(), one.library.settings());
        Contestant { name, version: one.version.clone(), settings }
    };
    let libraries = contestants.iter().map(said).collect();
    let table = Table { format: 2, machine, seconds: start.elapsed().as_secs_f64(), libraries, rows };
    of_programs(&table, options.json.as_deref(), progress)
}

struct One<'a> {
    library: &'a Library,
    program: PathBuf,
    version: String,
}

/// Which library it really is: hpcc does not say so.
fn version(library: &Library, tree: &Tree, folder: &Path) -> Result<String> {
    let row = Row { ranks: 2, ..PLAIN };
    let program = library.compile(&tree.root.join("benches/c"), "first", &folder.join("programs"))?;
    let arguments = ["--send", "--json", "-s", "8"].map(str::to_owned);
    let mut command = library.launch(&row, &program, &arguments);
    let said = launch::run(&mut command, LIMIT, &folder.join("version.log"))?;
    said.and_then(|text| library.verify(&Output::read(&text)?, row.ranks))
        .map_err(|why| fail(format!("{}: {why}", library.name)))
}

fn measured(
    contestants: &[One<'_>],
    libraries: &[Library],
    (ranks, order, rounds): (u32, u32, u32),
    folder: &Path,
) -> Result<Vec<Measured>> {
    let row = Row { name: "hpcc", ranks, ..PLAIN };
    // By part and contestant.
    let mut figures = vec![vec![Vec::new(); contestants.len()]; PARTS.len()];
    let mut failures = BTreeSet::new();
    for round in 0..rounds as usize {
        for turn in 0..contestants.len() {
            // Each round begins with another one.
            let index = (turn + round) % contestants.len();
            match turn_of(&contestants[index], &row, order, folder)? {
                Ok(values) => {
                    figures.iter_mut().zip(values).for_each(|(figures, value)| figures[index].push(value));
                }
                Err(why) => _ = failures.insert(format!("{}: {why}", contestants[index].library.name)),
            }
        }
    }
    let measured = |(part, figures): (&Part, Vec<Vec<f64>>)| Measured {
        name: format!("{}-{ranks}", part.row),
        title: part.title.to_owned(),
        ranks,
        over: "order".to_owned(),
        crowded: is_crowded(&row),
        rounds,
        samples: 1,
        unit: part.unit,
        sizes: vec![compared(
            libraries,
            part.unit,
            u64::from(order),
            figures.iter().map(|values| Figure::of_launches(values, part.unit)).collect(),
            None,
            None,
        )],
        failures: failures.iter().cloned().collect(),
    };
    Ok(PARTS.iter().zip(figures).map(measured).collect())
}

/// One launch: a figure for each part, or why there is none.
fn turn_of(one: &One<'_>, row: &Row, order: u32, folder: &Path) -> Result<std::result::Result<Vec<f64>, String>> {
    let place = folder.join(&one.library.name).join("run");
    prepare(&place, &one.program, Problem { ranks: row.ranks, order, block: 64 })?;
    let mut command = one.library.launch(row, &one.program, &[]);
    command.current_dir(&place).envs(ENVIRONMENT);
    let begin = Instant::now();
    if let Err(why) = launch::run(&mut command, LIMIT, &place.join("launch.log"))? {
        return Ok(Err(why));
    }
    let seconds = begin.elapsed().as_secs_f64();
    Ok(report(&place, row.ranks)?.and_then(|text| PARTS.iter().map(|part| part.value(&text, seconds)).collect()))
}

impl Part {
    fn value(&self, report: &str, seconds: f64) -> std::result::Result<f64, String> {
        if self.key.is_empty() {
            return Ok(seconds);
        }
        let value =
            report.lines().find_map(|line| line.strip_prefix(self.key)?.strip_prefix('=')?.trim().parse::<f64>().ok());
        value.map(|value| value * self.times).ok_or_else(|| format!("its report has no {}", self.key))
    }
}

/// Its report counts in Tera and Giga, tables here in Mega.
const PARTS: &[Part] = &[
    Part { row: "hpcc", title: "all of HPC Challenge, wall clock of a launch", key: "", times: 1.0, unit: Unit::S },
    Part { row: "hpcc-hpl", title: "HPL: floating-point operations", key: "HPL_Tflops", times: 1e6, unit: Unit::PerS },
    Part { row: "hpcc-ptrans", title: "PTRANS", key: "PTRANS_GBs", times: 1e3, unit: Unit::BytesPerS },
    Part {
        row: "hpcc-random",
        title: "MPIRandomAccess: updates",
        key: "MPIRandomAccess_GUPs",
        times: 1e3,
        unit: Unit::PerS,
    },
    Part {
        row: "hpcc-fft",
        title: "MPIFFT: floating-point operations",
        key: "MPIFFT_Gflops",
        times: 1e3,
        unit: Unit::PerS,
    },
    Part {
        row: "hpcc-ring-latency",
        title: "a ring of 8 bytes, ranks in their natural order",
        key: "NaturallyOrderedRingLatency_usec",
        times: 1.0,
        unit: Unit::Us,
    },
    Part {
        row: "hpcc-ring-bandwidth",
        title: "a ring of 2 MB, ranks in their natural order",
        key: "NaturallyOrderedRingBandwidth_GBytes",
        times: 1e3,
        unit: Unit::BytesPerS,
    },
];
const LIMIT: Duration = Duration::from_secs(300);

/// The end of --help.
const EXAMPLES: &str = "\
Examples:
  cargo xtask bench hpcc --ranks 2 --order 1000                     this library alone
  cargo xtask bench hpcc --against openmpi,mpich --json hpcc.json   three libraries, figures in a file";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_a_report() {
        let report = "HPL_Tflops=0.034\nMPIRandomAccess_GUPs=0.009\nPTRANS_GBs=2.5\n";
        let value = |row: &str| PARTS.iter().find(|part| part.row == row).unwrap().value(report, 3.5);
        assert_eq!(value("hpcc"), Ok(3.5));
        assert!(value("hpcc-hpl").is_ok_and(|value| (value - 34_000.0).abs() < 1e-6));
        assert!(value("hpcc-random").is_ok_and(|value| (value - 9.0).abs() < 1e-9));
        assert!(value("hpcc-fft").is_err_and(|why| why.contains("MPIFFT_Gflops")));
    }
}
