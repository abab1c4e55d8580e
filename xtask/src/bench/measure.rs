//! The turns: row by row, round by round, one launch of each contestant after the other.

use super::library::{Library, is_crowded, loopback_bytes};
use super::result::{Contestant, Figure, Measured, SizeLine, Table};
use super::rows::{Row, Unit};
use super::sample::{Cell, Output, best_peer};
use super::{launch, machine};
use crate::failure::Result;
use crate::progress::Progress;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// What to do.
#[derive(Debug)]
pub struct Plan<'a> {
    /// Rows in their order.
    pub rows: &'a [Row],
    /// Contestants; the first is ours.
    pub libraries: &'a [Library],
    /// The C programs.
    pub sources: PathBuf,
    /// For programs and logs.
    pub folder: PathBuf,
    /// Only these sizes, if any are named.
    pub sizes: Vec<u64>,
    /// Fewer sizes.
    pub quick: bool,
    /// Turns.
    pub rounds: u32,
    /// Per size and turn.
    pub samples: u32,
}

/// What is known of the run so far.
#[derive(Default)]
struct Run {
    versions: Vec<String>,
    programs: HashMap<(String, String), PathBuf>,
}

impl Plan<'_> {
    /// Measures everything.
    pub fn run(&self, progress: &Progress) -> Result<Table> {
        let (start, machine) = (Instant::now(), machine::look());
        if machine.load > 0.3 {
            progress.note(&format!(
                "others use this machine (load {}): figures will be worse than they could be",
                machine.load
            ));
        }
        let mut run = Run { versions: vec![String::new(); self.libraries.len()], ..Run::default() };
        let mut rows = Vec::new();
        for (index, row) in self.rows.iter().enumerate() {
            let what = format!("{:>2}/{} {}", index + 1, self.rows.len(), row.name);
            rows.extend(progress.phase(&what, || {
                let measured = self.row(row, &mut run)?;
                let note = if measured.is_none() { "none of its sizes is wanted" } else { "" };
                Ok((measured, note.to_owned()))
            })?);
        }
        let libraries = self.libraries.iter().zip(run.versions);
        Ok(Table {
            format: 2,
            machine,
            seconds: start.elapsed().as_secs_f64(),
            libraries: libraries
                .map(|(library, version)| Contestant {
                    name: library.name.clone(),
                    version,
                    settings: library.settings(),
                })
                .collect(),
            rows,
        })
    }

    fn row(&self, row: &Row, run: &mut Run) -> Result<Option<Measured>> {
        let sizes = self.sizes_of(row);
        if sizes.is_empty() {
            return Ok(None);
        }
        let raw = row.raw.map(|(program, arguments)| Row { program, arguments, ..row.clone() });
        let machine = Library::raw();
        let mut cells: BTreeMap<(usize, u64), Cell> = BTreeMap::new();
        let mut failures = BTreeSet::new();
        for round in 0..self.rounds {
            for turn in 0..self.libraries.len() {
                // Each round begins with another one: what comes after a quiet moment may have a colder cache.
                let index = (turn + round as usize) % self.libraries.len();
                let library = &self.libraries[index];
                match self.turn(library, row, &sizes, run)? {
                    Ok((version, output)) => {
                        run.versions[index] = version;
                        self.keep(&mut cells, index, row, &output);
                    }
                    Err(why) => _ = failures.insert(format!("{}: {why}", library.name)),
                }
            }
            if let Some(raw) = &raw {
                match self.turn(&machine, raw, &sizes, run)? {
                    Ok((_, output)) => self.keep(&mut cells, RAW, row, &output),
                    Err(why) => _ = failures.insert(format!("raw: {why}")),
                }
            }
        }
        let unit = cells.values().find_map(Cell::unit).unwrap_or(Unit::Us);
        Ok(Some(Measured {
            name: row.name.to_owned(),
            title: row.title.to_owned(),
            ranks: row.ranks,
            over: row.over.to_owned(),
            crowded: is_crowded(row),
            rounds: self.rounds,
            samples: self.samples,
            unit,
            sizes: sizes.iter().map(|size| self.line(row, *size, unit, &cells)).collect(),
            failures: failures.into_iter().collect(),
        }))
    }

    fn keep(&self, cells: &mut BTreeMap<(usize, u64), Cell>, index: usize, row: &Row, output: &Output) {
        for size in &output.sizes {
            cells.entry((index, size.size)).or_default().add(size, is_crowded(row));
        }
    }

    /// One launch; the inner error is what goes into the table.
    fn turn(
        &self,
        library: &Library,
        row: &Row,
        sizes: &[u64],
        run: &mut Run,
    ) -> Result<std::result::Result<(String, Output), String>> {
        let key = (library.name.clone(), row.program.to_owned());
        let program = match run.programs.get(&key) {
            Some(program) => program.clone(),
            None if library.lacks_fortran(&self.sources, row.program) => {
                return Ok(Err("it has no wrapper for Fortran".to_owned()));
            }
            None => {
                let program = library.compile(&self.sources, row.program, &self.folder.join("programs"))?;
                run.programs.insert(key, program.clone());
                program
            }
        };
        let sizes: Vec<String> = sizes.iter().map(u64::to_string).collect();
        let samples = self.samples.to_string();
        let mut arguments: Vec<String> = row.arguments.iter().map(|word| (*word).to_owned()).collect();
        let common = ["--json", "--pin", "-c", CHUNK_US, "-r", &samples, "-s", &sizes.join(",")];
        arguments.extend(common.map(str::to_owned));
        let mut command = library.launch(row, &program, &arguments);
        let before = loopback_bytes()?;
        let ended = launch::run(&mut command, LIMIT, &self.folder.join("launch.log"))?;
        let crossed = loopback_bytes()? - before;
        Ok(ended.and_then(|text| {
            let output = Output::read(&text)?;
            let version = library.verify(&output, row.ranks)?;
            // Others use the loopback, too: this can only show that somebody did not.
            if row.transport.is_tcp() && crossed < output.bytes() {
                return Err(format!("the loopback carried {crossed} bytes, fewer than were sent: this was not TCP"));
            }
            Ok((version, output))
        }))
    }

    fn sizes_of(&self, row: &Row) -> Vec<u64> {
        let wanted = |size: &u64| match self.sizes.is_empty() {
            true => !self.quick || QUICK.contains(size),
            false => self.sizes.contains(size),
        };
        row.sizes.iter().copied().filter(wanted).collect()
    }

    fn line(&self, row: &Row, size: u64, unit: Unit, cells: &BTreeMap<(usize, u64), Cell>) -> SizeLine {
        let figure = |index: usize| {
            let cell = cells.get(&(index, size))?;
            let (clean, disturbed) = cell.counts();
            Some(Figure { best: cell.best(), median: cell.median(), clean, disturbed })
        };
        let figures = (0..self.libraries.len()).map(figure).collect();
        let aim = row.aims.iter().find(|(at, _)| *at == size).map(|(_, aim)| *aim);
        compared(self.libraries, unit, size, figures, figure(RAW), aim)
    }
}

/// A line of the table: each library's figure, and ours against the best of the others'.
pub fn compared(
    libraries: &[Library],
    unit: Unit,
    size: u64,
    figures: Vec<Option<Figure>>,
    raw: Option<Figure>,
    aim: Option<f64>,
) -> SizeLine {
    let best = |index: usize| figures[index].and_then(|figure| figure.best);
    let baseline = libraries.iter().position(|library| library.name == BASELINE);
    let peers = libraries.iter().enumerate().skip(1).filter(|(index, _)| Some(*index) != baseline);
    let peers = peers.filter_map(|(index, library)| Some((library.name.as_str(), best(index)?))).collect();
    let (ours, peer) = (best(0), best_peer(unit, &peers));
    SizeLine {
        size,
        label: None,
        raw,
        best_peer: peer.map(|(name, _)| name.to_owned()),
        ratio: ours.zip(peer).map(|(ours, (_, peer))| ours / peer),
        baseline_ratio: ours.zip(baseline.and_then(best)).map(|(ours, baseline)| ours / baseline),
        aim,
        figures,
    }
}

/// The name of another build of ours.
pub const BASELINE: &str = "baseline";
/// The machine's place among the contestants' cells.
const RAW: usize = usize::MAX;
const CHUNK_US: &str = "1000";
const QUICK: &[u64] = &[1, 8, 100, 4 << 10, 64 << 10, 1 << 20];
/// A launch takes about a second on a quiet machine.
const LIMIT: Duration = Duration::from_secs(180);
