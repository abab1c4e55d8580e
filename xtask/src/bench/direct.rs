//! The cost of components: the default library against one in which the chosen components are called directly.
//!
//! Two answers. Instructions, which are exact. And time, from launches in turn: the ratio of the two least times, and
//! because a least time has no error bars, also the median of the ratios of neighbouring launches with the interval that
//! holds it in 95 of 100 repetitions (order statistics: no assumption on how times are distributed).

use super::library::Library;
use super::rows::{self, Row};
use super::sample::{Cell, Output};
use super::{instructions, launch};
use crate::build;
use crate::failure::{Result, fail};
use crate::progress::Progress;
use crate::tree::Tree;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Options of `bench direct`.
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// What is called directly
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "pml/ob1,btl/sm")]
    direct: Vec<String>,
    /// Launches of each, in turn
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u32).range(50..=10_000))]
    runs: u32,
    /// Thin link-time optimization for both
    #[arg(long)]
    thin: bool,
}

/// Builds both, counts, measures; fails when a limit is not held.
pub fn run(options: &Options, progress: &Progress) -> Result<()> {
    let tree = Tree::open()?;
    let kind = if options.thin { "-thin" } else { "" };
    let place = |name: &str| tree.target.join(format!("bench/{name}{kind}"));
    let both = [("default", "ours", &[][..]), ("direct", "direct", &options.direct[..])];
    let mut libraries = Vec::new();
    for (name, folder, direct) in both {
        let (out, direct) = (Some(place(folder)), direct.to_vec());
        let product = build::Options { thin: options.thin, no_check: true, out, direct, ..Default::default() };
        libraries.push(Library::ours(name, build::build(&product, progress)?.dist)?);
    }
    let sources = tree.root.join("benches/c");
    let mut counts = Vec::new();
    for library in &libraries {
        let folder = tree.target.join("bench/direct-counts");
        counts.push(instructions::count(&library.home, &sources, &folder)?);
    }
    println!("instructions, each call's typical count");
    println!("{:>20} {:>10} {:>10} {:>10}", "call", "default", "direct", "difference");
    for (name, count) in &counts[0] {
        let direct = counts[1].get(name).map_or(f64::NAN, |count| count.typical);
        println!("{name:>20} {:>10.1} {direct:>10.1} {:>10.1}", count.typical, count.typical - direct);
    }
    let send = |index: usize| counts[index].get("send_8").map_or(f64::NAN, |count| count.typical);
    let difference = send(0) - send(1);

    let times = progress.phase(&format!("{} launches of each", options.runs), || {
        Ok((times(&libraries, options.runs, &sources, &tree.target.join("bench"))?, String::new()))
    })?;
    let answer = Answer::of(&times);
    println!("\n8 bytes one way, {} launches in turn", times.len());
    println!("least: {:.4} µs by default, {:.4} µs direct: {:+.2} %", answer.least[0], answer.least[1], answer.percent);
    println!(
        "median of neighbours' ratios: {:+.2} %, 95 % interval {:+.2} to {:+.2} %",
        answer.median, answer.interval.0, answer.interval.1
    );
    verdict(difference, answer.percent)
}

fn verdict(instructions: f64, percent: f64) -> Result<()> {
    let mut broken = Vec::new();
    // A count that is missing (NaN) is not within its limit.
    if instructions > MOST_INSTRUCTIONS || instructions.is_nan() {
        broken.push(format!("{instructions} instructions more per send, {MOST_INSTRUCTIONS} are allowed"));
    }
    if percent > MOST_PERCENT || percent.is_nan() {
        broken.push(format!("{percent:.2} % more time, {MOST_PERCENT} % are allowed"));
    }
    match broken.is_empty() {
        true => Ok(()),
        false => Err(fail(format!("components cost too much: {}", broken.join("; ")))),
    }
}

/// Pairs of best times, one of each launch.
fn times(libraries: &[Library], runs: u32, sources: &Path, folder: &Path) -> Result<Vec<[f64; 2]>> {
    let row = rows::all().find(|row| row.name == "latency").ok_or_else(|| fail("there is no row latency"))?;
    let programs: Vec<PathBuf> = libraries
        .iter()
        .map(|library| library.compile(sources, row.program, &folder.join("programs")))
        .collect::<Result<_>>()?;
    let mut times = Vec::new();
    for turn in 0..runs * 2 {
        let mut pair = [f64::NAN; 2];
        for step in 0..2 {
            // A B, B A, …: neither always comes after the other.
            let index = ((turn + step) % 2) as usize;
            pair[index] = time(&libraries[index], row, &programs[index], folder)?.unwrap_or(f64::NAN);
        }
        if pair.iter().all(|time| time.is_finite()) {
            times.push(pair);
        }
        if times.len() == runs as usize {
            return Ok(times);
        }
    }
    Err(fail(format!(
        "only {} of {} pairs of launches had undisturbed samples, {runs} are wanted: try again when the machine is quiet",
        times.len(),
        runs * 2
    )))
}

fn time(library: &Library, row: &Row, program: &Path, folder: &Path) -> Result<Option<f64>> {
    let words = ["--json", "--pin", "-s", "8", "-c", "1000", "-r", "40"];
    let mut command = library.launch(row, program, &words.map(str::to_owned));
    let output = launch::run(&mut command, LIMIT, &folder.join("direct.log"))?.map_err(fail)?;
    let output = Output::read(&output).map_err(fail)?;
    library.verify(&output, row.ranks).map_err(fail)?;
    let mut cell = Cell::default();
    output.sizes.iter().for_each(|size| cell.add(size, false));
    Ok(cell.best())
}

/// What the times say.
#[derive(Debug)]
struct Answer {
    least: [f64; 2],
    /// The least by default against the least direct.
    percent: f64,
    median: f64,
    interval: (f64, f64),
}

impl Answer {
    fn of(times: &[[f64; 2]]) -> Answer {
        let least = [0, 1].map(|index| times.iter().map(|pair| pair[index]).fold(f64::MAX, f64::min));
        let mut ratios: Vec<f64> = times.iter().map(|pair| percent(pair[0], pair[1])).collect();
        ratios.sort_by(f64::total_cmp);
        let n = ratios.len();
        // Ranks n/2 ± 1.96·√n/2: the binomial distribution of how many of n lie below the true median.
        let away = (1.96 * (n as f64).sqrt() / 2.0).ceil() as usize;
        let at = |rank: usize| ratios[rank.min(n - 1)];
        Answer {
            least,
            percent: percent(least[0], least[1]),
            median: at(n / 2),
            interval: (at((n / 2).saturating_sub(away)), at(n / 2 + away)),
        }
    }
}

fn percent(default: f64, direct: f64) -> f64 {
    (default / direct - 1.0) * 100.0
}

const MOST_INSTRUCTIONS: f64 = 6.0;
const MOST_PERCENT: f64 = 1.0;
const LIMIT: Duration = Duration::from_secs(60);

/// The end of --help.
const EXAMPLES: &str = "\
Examples:
  cargo xtask bench direct                              pml/ob1 and btl/sm, called through tables and directly
  cargo xtask bench direct --direct coll/sm --runs 50   another component, fewer launches";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer() {
        // 0 to 99 per mille more, in any order; one launch of each was luckier than all others.
        let mut times: Vec<[f64; 2]> = (0..100).map(|i| [1.0 + f64::from(i * 37 % 100) / 1000.0, 1.0]).collect();
        times.push([0.9, 0.9]);
        let answer = Answer::of(&times);
        assert!(answer.percent.abs() < 1e-9, "{answer:?}");
        assert!((answer.median - 4.9).abs() < 0.11, "{answer:?}");
        assert!(answer.interval.0 < 4.0 && answer.interval.0 > 3.5, "{answer:?}");
        assert!(answer.interval.1 > 5.8 && answer.interval.1 < 6.2, "{answer:?}");
    }

    #[test]
    fn limits() {
        assert!(verdict(6.0, 0.99).is_ok() && verdict(-20.0, -5.0).is_ok());
        assert!(verdict(7.0, 0.0).is_err() && verdict(0.0, 1.01).is_err() && verdict(f64::NAN, 0.0).is_err());
    }
}
