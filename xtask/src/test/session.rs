//! One call of `cargo xtask test`: which tests it wants, the library under test, and the report. Below it stands how a program
//! of a test is run with a deadline.

pub mod at_once;
pub mod deadline;
pub mod marked;
pub mod report;
pub mod unit_tests;
mod verdict;

pub use verdict::Verdict;

use crate::build::{self, Built};
use crate::failure::Result;
use crate::progress::Progress;
use crate::tree::Tree;
use report::Report;
use std::path::PathBuf;
use std::time::Instant;
use unit_tests::UnitTests;

/// Options of `test`.
#[derive(clap::Args, Clone, Debug, Default)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Run only tests whose name contains one of these words; a tier's name selects all of it
    pub filter: Vec<String>,
    /// Run the full tiers: more ranks, the library with fat link-time optimization, more under valgrind
    #[arg(long)]
    pub all: bool,
    /// Count a test that cannot run on this machine as failed
    #[arg(long)]
    pub require_all: bool,
    /// Write the instruction counts of this run into the file that later runs compare with
    #[arg(long)]
    pub bless: bool,
    /// List the tests instead of running them
    #[arg(long)]
    pub list: bool,
    /// Components of the library under test, as `build` takes them; expectations of the default ones may fail
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub components: Vec<String>,
    /// Components to leave out of that library
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub exclude: Vec<String>,
}

/// What all tests of one call share.
pub struct Session<'a> {
    /// The source tree under test.
    pub tree: Tree,
    /// The command line.
    pub options: &'a Options,
    /// Where builds show their progress.
    pub progress: &'a Progress,
    /// The lines and counts of the tests.
    pub report: Report,
    /// The library under test, once it was built, or why it could not be.
    library: Option<std::result::Result<Built, String>>,
    /// Test programs of the workspace, once they were compiled.
    unit_tests: Option<UnitTests>,
}

impl Session<'_> {
    /// Opens the source tree; nothing is built yet.
    pub fn new<'a>(options: &'a Options, progress: &'a Progress) -> Result<Session<'a>> {
        let report = Report::new(options.require_all);
        Ok(Session { tree: Tree::open()?, options, progress, report, library: None, unit_tests: None })
    }

    /// Whether the command line asks for the test of this name.
    pub fn wants(&self, name: &str) -> bool {
        let filter = &self.options.filter;
        filter.is_empty() || filter.iter().any(|part| name.contains(part.as_str()))
    }

    /// Runs one test if it is wanted.
    pub fn case(&mut self, name: &str, test: impl FnOnce(&mut Self) -> Verdict) {
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
    pub fn library(&mut self) -> std::result::Result<Built, String> {
        let (options, progress, place) = (self.options, self.progress, self.dist());
        let built = self.library.get_or_insert_with(|| {
            let (components, exclude) = (options.components.clone(), options.exclude.clone());
            let options = build::Options { components, exclude, thin: true, out: Some(place), ..Default::default() };
            build::build(&options, progress).map_err(|failure| failure.text)
        });
        match built {
            Ok(built) => Ok(built.clone()),
            Err(why) => Err(format!("the library could not be built:\n{why}")),
        }
    }

    /// Every test program of the workspace, compiled once per call of xtask.
    pub fn unit_tests(&mut self) -> UnitTests {
        if let Some(compiled) = &self.unit_tests {
            return compiled.clone();
        }
        self.report.begins("compile the tests of the workspace");
        let compiled = UnitTests::compile(&self.tree);
        self.unit_tests.insert(compiled).clone()
    }

    /// Where [`Session::library`] goes.
    pub fn dist(&self) -> PathBuf {
        self.tree.target.join("dist-test")
    }

    /// The folder for files that tests write.
    pub fn scratch(&self) -> PathBuf {
        self.tree.target.join("test")
    }
}

/// The end of --help.
const EXAMPLES: &str = "\
Examples:
  cargo xtask test                       everything but tidy and clippy
  cargo xtask test c/pt2pt unit/btl-sm   tests whose name contains one of these
  cargo xtask test mpirun                one tier
  cargo xtask test --list                the names of all tests
  cargo xtask test --all coll            one tier in full";
