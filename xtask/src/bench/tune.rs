//! `cargo xtask bench tune`: a decision file of coll/tuned for this machine, from measurements of each of its algorithms.
//!
//! Launches of the algorithms alternate, so that a busy moment hits all alike, and the least of all samples counts. The
//! choice stays as it is without a file unless an algorithm is clearly faster, so that the file stays short.

use super::launch;
use super::library::Library;
use super::sample::Output;
use crate::failure::{Result, fail, refuse};
use crate::fpga::rig;
use crate::progress::Progress;
use crate::shell;
use crate::tree::Tree;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Options of `bench tune`.
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// The file to write
    #[arg(long, value_name = "FILE", default_value = "coll_tuned_decisions")]
    out: PathBuf,
    /// Measure this product instead of building one
    #[arg(long, value_name = "DIST")]
    dist: Option<PathBuf>,
    /// Numbers of ranks, all on this machine
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_values_t = [2, 4])]
    ranks: Vec<u32>,
    /// How often each algorithm takes its turn
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: u32,
    /// About how long all of it may take; functions that have no turn until then are left out, and named
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=600))]
    minutes: u32,
}

/// A function as parameters and benches/c/collective.c call it, and its algorithms.
const FUNCTIONS: [(&str, &[&str]); 4] = [
    ("bcast", &["auto", "next", "scatter_allgather", "chain"]),
    ("allreduce", &["auto", "next", "ring", "halving"]),
    ("allgather", &["auto", "next", "doubling", "bruck", "neighbor"]),
    ("alltoall", &["auto", "next", "bruck", "pairwise"]),
];
const SIZES: &str = "8,1024,8192,32768,131072,1048576,4194304";
/// What an algorithm must be faster by.
const CLEARLY: f64 = 0.95;
const LIMIT: Duration = Duration::from_secs(120);

/// Seconds by size, then by algorithm.
type Times = BTreeMap<u64, BTreeMap<&'static str, f64>>;

/// Measures and writes the file.
pub fn run(options: &Options, progress: &Progress) -> Result<()> {
    if let Some(ranks) = options.ranks.iter().find(|ranks| **ranks < 2) {
        return Err(refuse(format!("--ranks {ranks}: fewer than 2 ranks send no messages; name 2 or more")));
    }
    let tree = Tree::open()?;
    let dist = rig::library(&tree, options.dist.as_deref(), progress)?;
    let folder = tree.target.join("bench");
    let library = Library::ours("tune", dist)?;
    let program = library.compile(&tree.root.join("benches/c"), "collective", &folder)?;
    let mut text = String::from(
        "# Written by `cargo xtask bench tune`: the least time of each algorithm on one machine.\n\
         # function  ranks  bytes  algorithm\n",
    );
    let mut ranks = options.ranks.clone();
    ranks.sort_unstable();
    ranks.dedup();
    // What one function leaves of its share the others may use.
    let (begun, mut shares_left) = (Instant::now(), (ranks.len() * FUNCTIONS.len()) as u32);
    let all = Duration::from_secs(60) * options.minutes;
    for ranks in ranks {
        for (function, algorithms) in FUNCTIONS {
            if begun.elapsed() >= all {
                progress.note(&format!("{function} with {ranks} ranks is left out: --minutes are over"));
                continue;
            }
            let until = Instant::now() + all.saturating_sub(begun.elapsed()) / shares_left;
            shares_left -= 1;
            let what = format!("measure {function} with {ranks} ranks");
            let times = progress.phase(&what, || {
                let turns = Turns { rounds: options.rounds, until };
                let (times, rounds) = measured(&library, &program, (function, algorithms), ranks, &turns)?;
                let note = format!("{} sizes, {rounds} rounds", times.len());
                Ok((times, note))
            })?;
            text += &lines(function, ranks, &times);
        }
    }
    shell::write(&options.out, &text)?;
    progress.note(&format!("{}: use it with --mca coll_tuned_decisions FILE", options.out.display()));
    Ok(())
}

/// How often algorithms take their turns: no new round begins when the time is over.
struct Turns {
    rounds: u32,
    until: Instant,
}

/// The times, and after how many rounds.
fn measured(
    library: &Library,
    program: &Path,
    (function, algorithms): (&str, &'static [&'static str]),
    ranks: u32,
    turns: &Turns,
) -> Result<(Times, u32)> {
    let (mut times, mut done) = (Times::new(), 0);
    while done < turns.rounds && (done == 0 || Instant::now() < turns.until) {
        done += 1;
        for &algorithm in algorithms {
            let mut command = Command::new(&library.launcher);
            let parameter = format!("coll_tuned_{function}_algorithm");
            command.args(["-n", &ranks.to_string(), "--mca", &parameter, algorithm]);
            command.arg(program).args([&format!("--{function}"), "-s", SIZES, "-r", "8", "--json"]);
            let out = launch::run(&mut command, LIMIT, &program.with_extension("tune"))?.map_err(fail)?;
            for size in Output::read(&out).map_err(fail)?.sizes {
                let least = size.seconds.iter().copied().fold(f64::INFINITY, f64::min);
                let known = times.entry(size.size).or_default().entry(algorithm).or_insert(least);
                *known = known.min(least);
            }
        }
    }
    Ok((times, done))
}

/// A line wherever another algorithm is the best one from there on.
fn lines(function: &str, ranks: u32, times: &Times) -> String {
    let mut text = String::new();
    let mut current = "";
    for (bytes, by_algorithm) in times {
        let auto = by_algorithm.get("auto").copied().unwrap_or(f64::INFINITY);
        let best = by_algorithm.iter().min_by(|(_, a), (_, b)| a.total_cmp(b));
        let best = best.filter(|(_, seconds)| **seconds < auto * CLEARLY).map_or("auto", |(name, _)| *name);
        if best != current {
            // The first line is for all that is shorter, too.
            let from = if current.is_empty() { 0 } else { *bytes };
            let figures: Vec<String> =
                by_algorithm.iter().map(|(name, seconds)| format!("{name} {:.2}", seconds * 1e6)).collect();
            let _ = writeln!(text, "{function} {ranks} {from} {best}  # us at {bytes}: {}", figures.join(", "));
            current = best;
        }
    }
    text
}

/// The end of --help.
const EXAMPLES: &str = "\
Examples:
  cargo xtask bench tune --ranks 2,4 --out my_decisions   measures and writes the file
  cargo xtask bench tune --minutes 2 --ranks 4            as much as two minutes allow";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_where_the_best_one_changes() {
        let at = |bytes: u64, auto: f64, chain: f64| (bytes, BTreeMap::from([("auto", auto), ("chain", chain)]));
        let times =
            Times::from([at(8, 1e-6, 2e-6), at(1024, 2e-6, 1.95e-6), at(4096, 9e-6, 3e-6), at(8192, 9e-6, 3e-6)]);
        let text = lines("bcast", 4, &times);
        let words: Vec<&str> = text.lines().map(|line| line.split("  #").next().unwrap_or_default()).collect();
        assert_eq!(words, ["bcast 4 0 auto", "bcast 4 4096 chain"]);
    }
}
