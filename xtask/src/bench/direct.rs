//! The cost of components: the default library against one in which the chosen components are called directly.
//!
//! Two answers. Instructions, which are exact. And time, from launches in turn ([`pairs::Answer`]).

use super::instructions;
use super::library::Library;
use super::pairs;
use crate::build;
use crate::failure::{Result, fail};
use crate::progress::Progress;
use crate::tree::Tree;

/// Options of `bench direct`.
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// What is called directly
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "pml/ob1,btl/sm")]
    direct: Vec<String>,
    /// Launches of each, in turn
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u32).range(50..=10_000))]
    runs: u32,
    /// Thin link-time optimization for both
    #[arg(long)]
    thin: bool,
}

/// Builds both, counts, measures; fails when a limit is not held.
pub fn run(options: &Options, progress: &Progress) -> Result<()> {
    let tree = Tree::open()?;
    let kind = if options.thin { "-thin" } else { "" };
    let place = |name: &str| tree.target.join(format!("bench/{name}{kind}"));
    let both = [("default", "ours", &[][..]), ("direct", "direct", &options.direct[..])];
    let mut libraries = Vec::new();
    for (name, folder, direct) in both {
        let (out, direct) = (Some(place(folder)), direct.to_vec());
        let product = build::Options { thin: options.thin, no_check: true, out, direct, ..Default::default() };
        libraries.push(Library::ours(name, build::build(&product, progress)?.dist)?);
    }
    let sources = tree.root.join("benches/c");
    let mut counts = Vec::new();
    for library in &libraries {
        let folder = tree.target.join("bench/direct-counts");
        counts.push(instructions::count(&library.home, &[], &sources, &folder)?);
    }
    println!("instructions, each call's typical count");
    println!("{:>20} {:>10} {:>10} {:>10}", "call", "default", "direct", "difference");
    for (name, count) in &counts[0] {
        let direct = counts[1].get(name).map_or(f64::NAN, |count| count.typical);
        println!("{name:>20} {:>10.1} {direct:>10.1} {:>10.1}", count.typical, count.typical - direct);
    }
    let send = |index: usize| counts[index].get("send_8").map_or(f64::NAN, |count| count.typical);
    let difference = send(0) - send(1);

    let answer = pairs::compare(&libraries, "latency", options.runs, &tree, progress)?;
    answer.print(["by default", "direct"]);
    verdict(difference, answer.percent)
}

fn verdict(instructions: f64, percent: f64) -> Result<()> {
    let mut broken = Vec::new();
    // A count that is missing (NaN) is not within its limit.
    if instructions > MOST_INSTRUCTIONS || instructions.is_nan() {
        broken.push(format!("{instructions} instructions more per send, {MOST_INSTRUCTIONS} are allowed"));
    }
    if percent > MOST_PERCENT || percent.is_nan() {
        broken.push(format!("{percent:.2} % more time, {MOST_PERCENT} % are allowed"));
    }
    match broken.is_empty() {
        true => Ok(()),
        false => Err(fail(format!("components cost too much: {}", broken.join("; ")))),
    }
}

const MOST_INSTRUCTIONS: f64 = 6.0;
const MOST_PERCENT: f64 = 1.0;

/// The end of --help.
const EXAMPLES: &str = "\
Examples:
  cargo xtask bench direct                              pml/ob1 and btl/sm, called through tables and directly
  cargo xtask bench direct --direct coll/sm --runs 50   another component, fewer launches";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits() {
        assert!(verdict(6.0, 0.99).is_ok() && verdict(-20.0, -5.0).is_ok());
        assert!(verdict(7.0, 0.0).is_err() && verdict(0.0, 1.01).is_err() && verdict(f64::NAN, 0.0).is_err());
    }
}
