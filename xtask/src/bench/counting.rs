//! The cost of counting: the same library, with statistics and without.

use super::library::Library;
use super::pairs;
use super::product::MeasuredBuild;
use crate::failure::{Result, fail};
use crate::progress::Progress;
use crate::tree::Tree;

/// Options of `bench counting`.
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    #[command(flatten)]
    product: MeasuredBuild,
    /// Launches of each, in turn
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u32).range(10..=10_000))]
    runs: u32,
}

/// Measures; fails when the limit is not held.
pub fn run(options: &Options, progress: &Progress) -> Result<()> {
    let tree = Tree::open()?;
    let silent = Library::ours("ours", options.product.make(&tree, progress)?)?;
    let mut counting = silent.clone();
    let file = tree.target.join("bench/counting.txt");
    counting.environment.push(("OMPI_MCA_ompi_stats".to_owned(), file.display().to_string()));
    let answer = pairs::compare(&[counting, silent], "latency", options.runs, &tree, progress)?;
    answer.print(["with --stats", "without"]);
    match answer.percent <= MOST_PERCENT {
        true => Ok(()),
        // NaN is not within the limit.
        false => Err(fail(format!("counting costs {:.2} %; {MOST_PERCENT} % are allowed", answer.percent))),
    }
}

const MOST_PERCENT: f64 = 5.0;

/// The end of --help.
const EXAMPLES: &str = "\
Examples:
  cargo xtask bench counting                   builds the library, 40 launches with --stats and 40 without, in turn
  cargo xtask bench counting --dist dist       of what is built already";
