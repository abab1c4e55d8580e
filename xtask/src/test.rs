//! `cargo xtask test`: everything that is tested, tier by tier, each with a budget of minutes.
//!
//! Every program that a test starts has a deadline; processes that it leaves behind are found and ended. A test for which this
//! machine lacks something is listed as skipped, with the package that helps. The last line is `N passed, N failed, N skipped`.

mod bad_input;
mod benchmarks;
mod boot;
mod cargo;
mod cluster;
mod coll;
mod copies;
mod deadline;
mod debian;
mod decisions;
mod fftw;
mod fpga;
mod header;
pub mod hpcc;
mod images;
mod instructions;
mod loom;
pub mod marked;
mod memcheck;
pub mod mpi4py;
mod mpirun;
mod mutants;
mod netpipe;
mod new;
mod peers;
mod probe;
mod programs;
mod report;
mod rsmpi;
mod rust;
mod sanitizers;
mod steps;
mod walk;
mod wrappers;

use crate::failure::{Failure, Result, refuse};
use crate::progress::Progress;
use crate::tree::Tree;
use report::Report;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Options of `test`.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct Options {
    /// Only tests whose name contains one of these; a tier's name stands for all of it
    filter: Vec<String>,
    /// The full tier: more ranks, the fat image, more under valgrind
    #[arg(long)]
    all: bool,
    /// What cannot run here counts as failed
    #[arg(long)]
    pub require_all: bool,
    /// Commit the instruction counts of this run
    #[arg(long)]
    bless: bool,
    /// Name the tests instead of running them
    #[arg(long)]
    list: bool,
    /// Components of the library under test, as `build` takes them; expectations of the default ones may fail
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    components: Vec<String>,
    /// Components to leave out of it
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    exclude: Vec<String>,
}

/// A part of the tests.
struct Tier {
    name: &'static str,
    /// On 2 cores, nothing compiled yet.
    budget_minutes: f64,
    run: fn(&mut Session) -> Result<()>,
    /// Only `ci` runs it unless a filter names it.
    ci_only: bool,
}

/// One call of `cargo xtask test`.
struct Session<'a> {
    tree: Tree,
    options: &'a Options,
    progress: &'a Progress,
    report: Report,
    /// The library under test, once it was built, or why it could not be.
    library: Option<std::result::Result<crate::build::Built, String>>,
    /// Test programs of the workspace, once they were compiled.
    compiled: Option<cargo::Compiled>,
}

/// What became of one test.
enum Verdict {
    /// It holds; a word on it, or nothing.
    Passed(String),
    /// It does not: why.
    Failed(String),
    /// It cannot run here: why, and what to do about it.
    Skipped(String),
}

/// `cargo xtask test`.
pub fn run(options: &Options, progress: &Progress) -> Result<()> {
    tiers(options, progress, false)
}

/// `cargo xtask ci`: the same with the checks that need no program, and nothing may be skipped.
pub fn run_for_ci(progress: &Progress) -> Result<()> {
    tiers(&Options { require_all: true, ..Options::default() }, progress, true)
}

fn tiers(options: &Options, progress: &Progress, ci: bool) -> Result<()> {
    let mut session = Session {
        tree: Tree::open()?,
        options,
        progress,
        report: Report::new(options.require_all),
        library: None,
        compiled: None,
    };
    for tier in TIERS {
        if !session.enters(tier, ci) {
            continue;
        }
        session.report.tier(tier.name, tier.budget_minutes);
        if let Err(failure) = (tier.run)(&mut session) {
            session.report.result(tier.name, Duration::ZERO, Verdict::Failed(failure.text));
        }
        session.report.tier_ends();
    }
    if options.list {
        return Ok(());
    }
    if session.report.is_empty() {
        return Err(refuse(format!(
            "no test has a name with {}; `cargo xtask test --list` names them all",
            options.filter.join(" or ")
        )));
    }
    // The closing line is the last of all: no sentence may follow it.
    match session.report.close() {
        true => Ok(()),
        false => Err(Failure { status: 1, text: String::new() }),
    }
}

impl Session<'_> {
    /// Whether anything of this tier can be wanted.
    fn enters(&self, tier: &Tier, ci: bool) -> bool {
        let tier_of = |filter: &str| {
            let first = filter.split('/').next().unwrap_or(filter).to_owned();
            TIERS.iter().any(|tier| tier.name == first).then_some(first)
        };
        match self.options.filter.is_empty() {
            true => ci || !tier.ci_only,
            false => self.options.filter.iter().any(|filter| match tier_of(filter) {
                Some(name) => name == tier.name,
                None => !tier.ci_only,
            }),
        }
    }

    /// Whether the test of this name is to run.
    fn wants(&self, name: &str) -> bool {
        let filter = &self.options.filter;
        filter.is_empty() || filter.iter().any(|part| name.contains(part.as_str()))
    }

    /// Runs one test if it is wanted.
    fn case(&mut self, name: &str, test: impl FnOnce(&mut Self) -> Verdict) {
        if !self.wants(name) {
            return;
        }
        if self.options.list {
            println!("{name}");
            return;
        }
        self.report.begins(name);
        let start = Instant::now();
        let verdict = test(self);
        self.report.result(name, start.elapsed(), verdict);
    }

    /// The default library, or the one that --components names, built with thin link-time optimization into a place of its own.
    fn library(&mut self) -> std::result::Result<crate::build::Built, String> {
        let (options, progress, place) = (self.options, self.progress, self.dist());
        let built = self.library.get_or_insert_with(|| {
            let (components, exclude) = (options.components.clone(), options.exclude.clone());
            let options =
                crate::build::Options { components, exclude, thin: true, out: Some(place), ..Default::default() };
            crate::build::build(&options, progress).map_err(|failure| failure.text)
        });
        match built {
            Ok(built) => Ok(built.clone()),
            Err(why) => Err(format!("the library could not be built:\n{why}")),
        }
    }

    /// Where [`Session::library`] goes.
    fn dist(&self) -> PathBuf {
        self.tree.target.join("dist-test")
    }

    /// For what tests write.
    fn scratch(&self) -> PathBuf {
        self.tree.target.join("test")
    }
}

impl Verdict {
    /// What it says beside what it is.
    fn why(&self) -> &str {
        match self {
            Verdict::Passed(text) | Verdict::Failed(text) | Verdict::Skipped(text) => text,
        }
    }
}

impl From<Failure> for Verdict {
    fn from(failure: Failure) -> Verdict {
        Verdict::Failed(failure.text)
    }
}

/// In the order in which they run: what finds most per minute first.
const TIERS: &[Tier] = &[
    Tier { name: "tidy", budget_minutes: 0.5, run: steps::tidy, ci_only: true },
    Tier { name: "clippy", budget_minutes: 3.0, run: steps::clippy, ci_only: true },
    Tier { name: "api", budget_minutes: 0.2, run: steps::api, ci_only: false },
    Tier { name: "unit", budget_minutes: 5.0, run: cargo::tier, ci_only: false },
    Tier { name: "image", budget_minutes: 4.0, run: images::tier, ci_only: false },
    Tier { name: "new", budget_minutes: 4.0, run: new::tier, ci_only: false },
    Tier { name: "c", budget_minutes: 6.0, run: programs::tier, ci_only: false },
    Tier { name: "rust", budget_minutes: 3.0, run: rust::tier, ci_only: false },
    Tier { name: "coll", budget_minutes: 5.5, run: coll::tier, ci_only: false },
    Tier { name: "mutants", budget_minutes: 0.1, run: mutants::tier, ci_only: false },
    Tier { name: "decisions", budget_minutes: 0.5, run: decisions::tier, ci_only: false },
    Tier { name: "copies", budget_minutes: 1.5, run: copies::tier, ci_only: false },
    Tier { name: "bad_input", budget_minutes: 2.0, run: bad_input::tier, ci_only: false },
    Tier { name: "fuzz", budget_minutes: 1.5, run: bad_input::fuzz, ci_only: false },
    Tier { name: "wrappers", budget_minutes: 0.7, run: wrappers::tier, ci_only: false },
    Tier { name: "mpirun", budget_minutes: 0.5, run: mpirun::tier, ci_only: false },
    Tier { name: "probe", budget_minutes: 1.0, run: probe::tier, ci_only: false },
    Tier { name: "valgrind", budget_minutes: 2.0, run: memcheck::tier, ci_only: false },
    Tier { name: "loom", budget_minutes: 2.0, run: loom::tier, ci_only: false },
    Tier { name: "sanitizers", budget_minutes: 10.0, run: sanitizers::tier, ci_only: false },
    Tier { name: "walk", budget_minutes: 0.5, run: walk::tier, ci_only: false },
    Tier { name: "cluster", budget_minutes: 1.0, run: cluster::tier, ci_only: false },
    Tier { name: "instructions", budget_minutes: 0.5, run: instructions::tier, ci_only: false },
    Tier { name: "bench", budget_minutes: 0.5, run: benchmarks::tier, ci_only: false },
    Tier { name: "fpga", budget_minutes: 4.0, run: fpga::tier, ci_only: false },
    Tier { name: "boot", budget_minutes: 6.0, run: boot::tier, ci_only: false },
    Tier { name: "peers", budget_minutes: 2.0, run: peers::tier, ci_only: false },
    Tier { name: "mpi4py", budget_minutes: 6.0, run: mpi4py::tier, ci_only: false },
    Tier { name: "netpipe", budget_minutes: 1.0, run: netpipe::tier, ci_only: false },
    // Nothing of it without --all.
    Tier { name: "fftw", budget_minutes: 0.0, run: fftw::tier, ci_only: false },
    Tier { name: "rsmpi", budget_minutes: 0.0, run: rsmpi::tier, ci_only: false },
    Tier { name: "hpcc", budget_minutes: 0.0, run: hpcc::tier, ci_only: false },
];
