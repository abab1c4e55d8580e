//! `cargo xtask bench links`: long messages over one, two and three links of 1 Gbit/s between two network namespaces of this machine, and
//! what it costs short ones that a connection can go on after it broke.

use super::library::Library;
use crate::failure::{At, Result, fail, refuse};
use crate::progress::Progress;
use crate::tree::Tree;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Options of `bench links`; needs root.
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  cargo xtask bench links                        three turns
  cargo xtask bench links --rounds 10 --dist D   another library")]
pub struct Options {
    /// How often each number of links takes its turn
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,
    /// The library, as `cargo xtask build --out` installed it [default: dist in the source tree]
    #[arg(long, value_name = "DIR")]
    dist: Option<PathBuf>,
}

/// Measures and prints.
pub fn run(options: &Options, progress: &Progress) -> Result<()> {
    let tree = Tree::open()?;
    let dist = options.dist.clone().unwrap_or_else(|| tree.root.join("dist"));
    Library::ours("links", dist.clone())?;
    let (mut best, mut kept): (Vec<f64>, _) = (Vec::new(), [f64::INFINITY; 2]);
    progress.phase("links", || {
        for _ in 0..options.rounds {
            let said = case(&tree, &dist, "striping")?;
            let rates: Vec<f64> = said.lines().filter_map(rate).collect();
            best.resize(best.len().max(rates.len()), 0.0);
            best.iter_mut().zip(&rates).for_each(|(best, rate)| *best = best.max(*rate));
            let said = case(&tree, &dist, "kept")?;
            for (is_kept, took_us) in said.lines().filter_map(latency) {
                kept[usize::from(is_kept)] = kept[usize::from(is_kept)].min(took_us);
            }
        }
        Ok(((), String::new()))
    })?;
    let one = *best.first().ok_or_else(|| fail("no rate was measured"))?;
    println!("Messages of 32 MiB over links of 1 Gbit/s, the best message of {} turns", options.rounds);
    println!("{:>6} {:>10} {:>8}", "links", "MB/s", "ratio");
    for (links, rate) in (1..).zip(&best) {
        println!("{links:>6} {rate:>10.1} {:>8.2}", rate / one);
    }
    let [without, with] = kept;
    if !(without.is_finite() && with.is_finite()) {
        return Err(fail("no latency was measured: other programs had the cores all the time"));
    }
    println!("\nMessages of 8 bytes over a link, half of the best round trip of {} turns", options.rounds);
    println!("{:>16} {:>10} {:>8}", "btl_tcp_failover", "µs", "ratio");
    println!("{:>16} {without:>10.3} {:>8.3}", 0, 1.0);
    println!("{:>16} {with:>10.3} {:>8.3}", 1, with / without);
    Ok(())
}

/// What a case of `tests/cluster/two_networks.sh` prints.
fn case(tree: &Tree, dist: &Path, name: &str) -> Result<String> {
    let mut command = Command::new("sh");
    command.arg(tree.root.join("tests/cluster/two_networks.sh")).arg(dist).arg(name);
    let ended = command.output().at("run tests/cluster/two_networks.sh")?;
    let (said, why) = (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
    match ended.status.code() {
        Some(0) => Ok(said.into_owned()),
        Some(LACKS_SOMETHING) => Err(refuse(why.trim().to_owned())),
        _ => Err(fail(format!("{said}{why}"))),
    }
}

/// Of the best message in a line of `tests/cluster/two_pairs.c`, in MB/s.
fn rate(line: &str) -> Option<f64> {
    line.split_once(" times, ")?.1.split_once(" MB/s at best")?.0.parse().ok()
}

/// Of a line with what benches/c/latency.c prints: whether connections go on, and the best sample in µs, if one was not disturbed.
fn latency(line: &str) -> Option<(bool, f64)> {
    let (failover, numbers) = line.split_once("btl_tcp_failover ")?.1.split_once(':')?;
    let best: f64 = numbers.split_whitespace().nth(1)?.parse().ok()?;
    (best > 0.0).then_some((failover == "1", best))
}

/// What the script ends with where it cannot run.
const LACKS_SOMETHING: i32 = 77;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read() {
        let line = "striping: per mille on the wires: 501 498; ok two_pairs 33554432 bytes, 6 times, 231.9 MB/s at best, 220.0 MB/s in all";
        assert_eq!(rate(line), Some(231.9));
        assert_eq!(rate("ok striping"), None);
        let line = "kept: btl_tcp_failover 1:          8        4.183        5.726       38.405         10  2620 of 4000 samples";
        assert_eq!(latency(line), Some((true, 4.183)));
        assert_eq!(latency(&line.replace("4.183", "0.000")), None);
        assert_eq!(latency("ok kept"), None);
    }
}
