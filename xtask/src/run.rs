//! `cargo xtask run`.

use crate::failure::{Result, refuse};
use crate::progress::Progress;

/// Options of `run`.
#[derive(clap::Args, Clone, Debug)]
pub struct Options {}

/// Runs.
pub fn run(_options: &Options, _progress: &Progress) -> Result<()> {
    Err(refuse("not there yet"))
}
