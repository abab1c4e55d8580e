//! Two ways to run a program, in turn: the ratio of the two least times, and because a least time has no error bars, also the
//! median of the ratios of neighbouring launches with the interval that holds it in 95 of 100 repetitions (order statistics: no
//! assumption on how times are distributed).

use super::launch;
use super::library::Library;
use super::rows::{self, Row};
use super::sample::{Cell, Output};
use crate::failure::{Result, fail};
use crate::progress::Progress;
use crate::tree::Tree;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Measures a row's program with messages of 8 bytes, `runs` launches of each of two libraries.
pub fn compare(libraries: &[Library], row: &str, runs: u32, tree: &Tree, progress: &Progress) -> Result<Answer> {
    let (sources, folder) = (tree.root.join("benches/c"), tree.target.join("bench"));
    let times = progress.phase(&format!("{runs} launches of each"), || {
        Ok((times(libraries, row, runs, &sources, &folder)?, String::new()))
    })?;
    Ok(Answer::of(&times))
}

/// Pairs of best times, one of each launch.
fn times(libraries: &[Library], row: &str, runs: u32, sources: &Path, folder: &Path) -> Result<Vec<[f64; 2]>> {
    let row = rows::all().find(|known| known.name == row).ok_or_else(|| fail(format!("there is no row {row}")))?;
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
    let output = launch::run(&mut command, LIMIT, &folder.join("pairs.log"))?.map_err(fail)?;
    let output = Output::read(&output).map_err(fail)?;
    library.verify(&output, row.ranks).map_err(fail)?;
    let mut cell = Cell::default();
    output.sizes.iter().for_each(|size| cell.add(size, false));
    Ok(cell.best())
}

/// What the times say: of the first against the second.
#[derive(Debug)]
pub struct Answer {
    pairs: usize,
    /// The least time of each, in µs.
    pub least: [f64; 2],
    /// The ratio of the two.
    pub percent: f64,
    /// Of the ratios of neighbouring launches.
    pub median: f64,
    /// Holds the true median in 95 of 100 repetitions.
    pub interval: (f64, f64),
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
            pairs: n,
            least,
            percent: percent(least[0], least[1]),
            median: at(n / 2),
            interval: (at((n / 2).saturating_sub(away)), at(n / 2 + away)),
        }
    }

    /// For people, who call the two so.
    pub fn print(&self, names: [&str; 2]) {
        println!("\n8 bytes one way, {} launches in turn", self.pairs);
        println!(
            "least: {:.4} µs {}, {:.4} µs {}: {:+.2} %",
            self.least[0], names[0], self.least[1], names[1], self.percent
        );
        println!(
            "median of neighbours' ratios: {:+.2} %, 95 % interval {:+.2} to {:+.2} %",
            self.median, self.interval.0, self.interval.1
        );
    }
}

fn percent(first: f64, second: f64) -> f64 {
    (first / second - 1.0) * 100.0
}

const LIMIT: Duration = Duration::from_secs(60);

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
}
