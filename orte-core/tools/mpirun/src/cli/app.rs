//! The programs of a job, and what each of them is given: ranks, directory, environment, arguments.

use super::environment::Environment;
use std::ffi::OsString;
use std::path::PathBuf;

/// One program of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct App {
    /// Its ranks, at least 1.
    pub ranks: u32,
    /// Directory to work in.
    pub wdir: Option<PathBuf>,
    /// Where to look for the program before PATH.
    pub path: Option<OsString>,
    /// The variables of its ranks.
    pub environment: Environment,
    /// The program and its arguments, at least one word.
    pub command: Vec<OsString>,
}

/// Which of several programs with so many ranks each a rank runs; the last one for a rank that does not exist.
pub fn app_of(ranks: impl ExactSizeIterator<Item = u32>, rank: u32) -> usize {
    let last = ranks.len().saturating_sub(1);
    let mut end = 0;
    for (app, count) in ranks.enumerate() {
        end += count;
        if rank < end {
            return app;
        }
    }
    last
}
