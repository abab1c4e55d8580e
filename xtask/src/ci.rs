//! `cargo xtask ci`: continuous integration runs this, and it must pass before a change is handed over. It is tidy, clippy, api and
//! all tests of the sampled tier, with nothing skipped.

use crate::failure::Result;
use crate::progress::Progress;

/// Options of `ci`.
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Options {}

/// Runs it all; the last line is the count of the tests, in which each check of tidy counts as one.
pub fn run(_options: &Options, progress: &Progress) -> Result<()> {
    crate::test::run_for_ci(progress)
}

/// The end of --help.
const EXAMPLES: &str = "\
Examples:
  cargo xtask ci   what must pass before a change is handed over";
