//! `cargo xtask bench registry`: the messages of the registry beside string-keyed ones.

use crate::failure::{At, Result};
use crate::progress::Progress;
use crate::{shell, tree};
use serde::Deserialize;
use std::path::PathBuf;

/// Options of `bench registry`.
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  cargo xtask bench registry                      16 to 65,536 processes, 4 on each node
  cargo xtask bench registry --ranks 100 --per-node 64")]
pub struct Options {
    /// Numbers of processes
    #[arg(long, value_name = "LIST", default_value = "16,256,4096,65536")]
    ranks: String,
    /// Processes of a node
    #[arg(long, value_name = "N", default_value_t = 4)]
    per_node: u32,
    /// Write the points to this file, one JSON object per line
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// One encoding of one job.
#[derive(Deserialize)]
struct Point {
    ranks: u32,
    encoding: String,
    bytes: u64,
    encode_ns: f64,
    decode_ns: f64,
}

/// Measures and prints.
pub fn run(options: &Options, progress: &Progress) -> Result<()> {
    let mut command = tree::cargo();
    command.args(["run", "--release", "--quiet", "-p", "bench-registry", "--", "--ranks", &options.ranks]);
    command.args(["--per-node", &options.per_node.to_string()]);
    let text = progress.phase("weigh the messages", || {
        let text = shell::output(&mut command)?;
        let points = format!("{} points", text.lines().count());
        Ok((text, points))
    })?;
    println!("One message that tells a node of all processes; ns per process, least of 20 rounds.");
    println!(
        "{:>9} {:<22} {:>11} {:>12} {:>9} {:>9}",
        "processes", "encoding", "bytes", "baseline is", "encode", "decode"
    );
    let mut baseline = 0;
    for line in text.lines() {
        let point: Point = serde_json::from_str(line).at("read what the benchmark said")?;
        if point.encoding == "baseline" {
            baseline = point.bytes;
        }
        let times = baseline as f64 / point.bytes as f64;
        let Point { ranks, encoding, bytes, encode_ns, decode_ns } = point;
        println!("{ranks:9} {encoding:<22} {bytes:11} {times:11.1}x {encode_ns:9.1} {decode_ns:9.1}");
    }
    if let Some(file) = &options.json {
        shell::write(file, &text)?;
        progress.note(&format!("points in {}", file.display()));
    }
    Ok(())
}
