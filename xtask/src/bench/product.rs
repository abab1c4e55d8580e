//! Which build of this library is measured.

use crate::build;
use crate::failure::Result;
use crate::progress::Progress;
use crate::tree::Tree;
use std::path::PathBuf;

/// Which build of this library is measured.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct MeasuredBuild {
    /// Measure this product instead of building one
    #[arg(long, value_name = "DIST")]
    dist: Option<PathBuf>,
    /// Thin link-time optimization for our library: compiles faster, runs a little slower
    #[arg(long)]
    pub thin: bool,
}

impl MeasuredBuild {
    /// The folder of the product: built, unless it is named, with fat link-time optimization, as users get it.
    pub fn make(&self, tree: &Tree, progress: &Progress) -> Result<PathBuf> {
        if let Some(dist) = &self.dist {
            return Ok(dist.clone());
        }
        let folder = if self.thin { "bench/ours-thin" } else { "bench/ours" };
        let out = tree.target.join(folder);
        let product = build::Options { thin: self.thin, no_check: true, out: Some(out), ..Default::default() };
        Ok(build::build(&product, progress)?.dist)
    }
}
