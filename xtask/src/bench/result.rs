//! The figures as they go to the screen, to JSON, and into the pages of docs/performance.

use super::rows::Unit;
use serde::{Deserialize, Serialize};

/// A whole run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Table {
    /// Changes when a reader must.
    pub format: u32,
    /// Where it was measured, without names.
    pub machine: Machine,
    /// Wall clock of all.
    pub seconds: f64,
    /// The libraries that took part; the first is this one.
    pub libraries: Vec<Contestant>,
    /// What was measured.
    pub rows: Vec<Measured>,
}

/// What figures depend on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Machine {
    /// As /proc/cpuinfo names it.
    pub processor: String,
    /// Online.
    pub cores: usize,
    /// GiB.
    pub memory_gib: f64,
    /// Release.
    pub kernel: String,
    /// First line of `cc --version`.
    pub compiler: String,
    /// `rustc --version`.
    pub rustc: String,
    /// Day of the run.
    pub date: String,
    /// Runnable processes of others before the start; anything above a few tenths disturbs.
    pub load: f64,
}

/// One library.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Contestant {
    /// `ours`, `baseline`, a peer's name.
    pub name: String,
    /// What MPI_Get_library_version said, first line.
    pub version: String,
    /// How it is launched, by transport.
    pub settings: Vec<String>,
}

/// One row.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Measured {
    /// Its name.
    pub name: String,
    /// One line.
    pub title: String,
    /// How many ranks.
    pub ranks: u32,
    /// What sizes count.
    pub over: String,
    /// More ranks than cores: samples with context switches count, too.
    pub crowded: bool,
    /// Turns of each contestant.
    pub rounds: u32,
    /// Per size and turn.
    pub samples: u32,
    /// Its unit.
    pub unit: Unit,
    /// Its sizes.
    pub sizes: Vec<SizeLine>,
    /// Launches that failed.
    pub failures: Vec<String>,
}

/// One row and size.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SizeLine {
    /// Bytes, or what the row counts.
    pub size: u64,
    /// What a table shows instead, where lines are no sizes.
    #[serde(default)]
    pub label: Option<String>,
    /// One per contestant, in their order.
    pub figures: Vec<Option<Figure>>,
    /// What the machine does without a library.
    pub raw: Option<Figure>,
    /// The best peer's name.
    pub best_peer: Option<String>,
    /// Ours divided by the best peer's, of the best samples.
    pub ratio: Option<f64>,
    /// Ours divided by the baseline's, of the best samples.
    pub baseline_ratio: Option<f64>,
    /// The ratio to the best peer that is aimed at.
    pub aim: Option<f64>,
}

/// One contestant's figure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// Of all samples that count; none when all were disturbed.
    pub best: Option<f64>,
    /// Of all samples that count.
    pub median: Option<f64>,
    /// Samples that count.
    pub clean: usize,
    /// Samples with involuntary context switches, left out.
    pub disturbed: usize,
}

impl Figure {
    /// The best and the middle of a program's launches.
    pub fn of_launches(values: &[f64], unit: Unit) -> Option<Figure> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let best = if unit.is_time() { sorted.first() } else { sorted.last() };
        Some(Figure { best: Some(*best?), median: Some(sorted[sorted.len() / 2]), clean: sorted.len(), disturbed: 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_of_several_launches() {
        let of = |unit| Figure::of_launches(&[3.0, 1.0, 2.0], unit).map(|one| (one.best, one.median, one.clean));
        assert_eq!(of(Unit::S), Some((Some(1.0), Some(2.0), 3)));
        assert_eq!(of(Unit::PerS), Some((Some(3.0), Some(2.0), 3)));
        assert_eq!(Figure::of_launches(&[], Unit::S), None);
    }
}
