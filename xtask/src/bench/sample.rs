//! Samples that a program printed, and the choice of those that count.

use super::rows::Unit;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The figures of one launch.
#[derive(Clone, Debug, Default)]
pub struct Output {
    /// One per rank.
    pub ranks: Vec<Identity>,
    /// One per size.
    pub sizes: Vec<Size>,
}

/// Which library a rank runs on.
#[derive(Clone, Debug, Deserialize)]
pub struct Identity {
    /// The rank.
    pub rank: u32,
    /// What MPI_Get_library_version says.
    pub library: String,
    /// What the kernel says: mapped files with libmpi in their names, separated by colons.
    pub mapped: String,
}

/// All samples of one size.
#[derive(Clone, Debug, Deserialize)]
pub struct Size {
    /// Bytes, or what the row counts.
    pub size: u64,
    /// How it reads.
    pub unit: Unit,
    /// Of the measured thing in one iteration.
    pub operations: f64,
    /// Moved in one iteration.
    pub bytes: f64,
    /// Per sample.
    pub iterations: u64,
    /// Per iteration, one per sample.
    pub seconds: Vec<f64>,
    /// Involuntary context switches of all ranks, one per sample.
    pub switches: Vec<u32>,
}

impl Output {
    /// Reads what a program printed with `--json`; a line that is none of ours is an error, quoted.
    pub fn read(text: &str) -> Result<Output, String> {
        let mut output = Output::default();
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            if let Ok(size) = serde_json::from_str::<Size>(line) {
                if size.seconds.len() != size.switches.len() || size.seconds.iter().any(|time| *time <= 0.0) {
                    return Err(format!("samples that cannot be: {line}"));
                }
                output.sizes.push(size);
            } else if let Ok(rank) = serde_json::from_str::<Identity>(line) {
                output.ranks.push(rank);
            } else if line.starts_with('{') {
                return Err(format!("not what a benchmark prints: {line}"));
            }
            // Anything else is a launcher's own remark.
        }
        Ok(output)
    }

    /// Bytes that must have crossed between ranks at least: once per iteration of each sample.
    pub fn bytes(&self) -> f64 {
        self.sizes.iter().map(|size| size.bytes * (size.iterations * size.seconds.len() as u64) as f64).sum()
    }
}

impl Size {
    /// One figure in the row's unit: µs per operation, operations per µs, or bytes per µs.
    fn figure(&self, seconds: f64) -> f64 {
        match self.unit {
            Unit::Us => seconds / self.operations * 1e6,
            Unit::PerS => self.operations / seconds * 1e-6,
            Unit::BytesPerS => self.bytes / seconds * 1e-6,
            Unit::S => seconds,
        }
    }
}

/// The samples of one contestant for one row and size, of all rounds.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    unit: Option<Unit>,
    clean: Vec<f64>,
    disturbed: usize,
}

impl Cell {
    /// Adds those of one launch. With more ranks than cores the system must switch: there every sample counts.
    pub fn add(&mut self, size: &Size, crowded: bool) {
        self.unit = Some(size.unit);
        for (seconds, switches) in size.seconds.iter().zip(&size.switches) {
            match *switches == 0 || crowded {
                true => self.clean.push(size.figure(*seconds)),
                false => self.disturbed += 1,
            }
        }
    }

    /// Its unit, once there is a sample.
    pub fn unit(&self) -> Option<Unit> {
        self.unit
    }

    /// How many samples count, and how many do not.
    pub fn counts(&self) -> (usize, usize) {
        (self.clean.len(), self.disturbed)
    }

    /// The best sample: the least time, the highest rate.
    pub fn best(&self) -> Option<f64> {
        let better = if self.unit?.is_time() { f64::min } else { f64::max };
        self.clean.iter().copied().reduce(better)
    }

    /// The middle one.
    pub fn median(&self) -> Option<f64> {
        let mut sorted = self.clean.clone();
        sorted.sort_by(f64::total_cmp);
        let half = sorted.len() / 2;
        match sorted.len() {
            0 => None,
            odd if odd % 2 == 1 => Some(sorted[half]),
            _ => Some((sorted[half - 1] + sorted[half]) / 2.0),
        }
    }
}

/// The best of the peers and whose it is; none when no peer has a figure.
pub fn best_peer<'a>(unit: Unit, figures: &BTreeMap<&'a str, f64>) -> Option<(&'a str, f64)> {
    let order = |a: &f64, b: &f64| if unit.is_time() { a.total_cmp(b) } else { b.total_cmp(a) };
    figures.iter().map(|(name, figure)| (*name, *figure)).min_by(|a, b| order(&a.1, &b.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"a launcher's remark
{"rank":0,"library":"ompi-rs 0.1.0","mapped":""}
{"size":8,"unit":"us","operations":2,"bytes":16,"iterations":10,"seconds":[4e-07,2e-07,6e-07,1e-07],"switches":[0,0,0,3]}
"#;

    #[test]
    fn samples_with_switches_are_left_out() {
        let output = Output::read(TEXT).unwrap();
        assert_eq!((output.ranks.len(), output.sizes.len(), output.bytes()), (1, 1, 640.0));
        let mut cell = Cell::default();
        assert_eq!((cell.best(), cell.median(), cell.unit()), (None, None, None));
        cell.add(&output.sizes[0], false);
        // The fastest of all was disturbed: it must not win.
        assert_eq!(cell.counts(), (3, 1));
        assert!((cell.best().unwrap() - 0.1).abs() < 1e-12 && (cell.median().unwrap() - 0.2).abs() < 1e-12);
        cell.add(&output.sizes[0], true);
        assert_eq!(cell.counts(), (7, 1));
        assert!((cell.best().unwrap() - 0.05).abs() < 1e-12);
    }

    #[test]
    fn rates_are_best_when_high() {
        let size = Size {
            size: 8,
            unit: Unit::PerS,
            operations: 64.0,
            bytes: 512.0,
            iterations: 1,
            seconds: vec![64e-6, 32e-6],
            switches: vec![0, 0],
        };
        let mut cell = Cell::default();
        cell.add(&size, false);
        assert!((cell.best().unwrap() - 2.0).abs() < 1e-9 && (cell.median().unwrap() - 1.5).abs() < 1e-9);
        let bytes = Size { unit: Unit::BytesPerS, ..size };
        let mut cell = Cell::default();
        cell.add(&bytes, false);
        assert!((cell.best().unwrap() - 16.0).abs() < 1e-9);
    }

    #[test]
    fn the_best_peer() {
        let figures = BTreeMap::from([("a", 3.0), ("b", 2.0), ("c", 4.0)]);
        assert_eq!(best_peer(Unit::Us, &figures), Some(("b", 2.0)));
        assert_eq!(best_peer(Unit::PerS, &figures), Some(("c", 4.0)));
        assert_eq!(best_peer(Unit::Us, &BTreeMap::new()), None);
    }

    #[test]
    fn what_is_no_benchmark_is_noticed() {
        assert!(Output::read("{\"size\":8}").is_err());
        let short = TEXT.replace(",1e-07]", "]");
        assert!(Output::read(&short).unwrap_err().contains("cannot be"));
        assert!(Output::read(&TEXT.replace("1e-07", "0")).is_err());
    }
}
