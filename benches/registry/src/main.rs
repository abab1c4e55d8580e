//! Prints one JSON object per size of a job; `cargo xtask bench registry` makes a table of it.

use bench_registry::job::Job;
use bench_registry::{baseline, compact, numeric};
use clap::Parser;
use serde::Serialize;
use std::hint::black_box;
use std::time::Instant;

/// Weighs the messages of the registry and times their encoding and decoding
#[derive(Parser)]
struct Options {
    /// Numbers of ranks
    #[arg(long, value_delimiter = ',', default_values_t = [16u32, 256, 4096, 65536], value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    ranks: Vec<u32>,
    /// Ranks of a node
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=1024))]
    per_node: u32,
}

/// One encoding of one job.
#[derive(Serialize)]
struct Point {
    ranks: u32,
    encoding: &'static str,
    bytes: usize,
    /// Per process, least of several rounds.
    encode_ns: f64,
    decode_ns: f64,
}

fn main() {
    let options = Options::parse();
    for ranks in options.ranks {
        let job = Job::new(ranks, options.per_node);
        let (with, without) = (numeric::registry(&job, true), numeric::registry(&job, false));
        point(&job, "baseline", || baseline::encode(&job), baseline::decode);
        point(&job, "compact", || compact::encode(&job), compact::decode);
        point(&job, "numeric", || with.image(), numeric::decode);
        point(&job, "numeric without names", || without.image(), numeric::decode);
    }
}

fn point(job: &Job, encoding: &'static str, encode: impl Fn() -> Vec<u8>, decode: impl Fn(&[u8]) -> Option<Job>) {
    let bytes = encode();
    let told = decode(&bytes).expect("what was encoded can be decoded");
    assert_eq!(told.processes, job.processes, "{encoding}: the message tells of another job");
    let each = |seconds: f64| seconds * 1e9 / job.processes.len() as f64;
    let point = Point {
        ranks: job.processes.len() as u32,
        encoding,
        bytes: bytes.len(),
        encode_ns: each(least(|| drop(black_box(encode())))),
        decode_ns: each(least(|| drop(black_box(decode(&bytes))))),
    };
    println!("{}", serde_json::to_string(&point).expect("plain data"));
}

/// The least time of 20 rounds, in seconds; a round repeats what is short.
fn least(work: impl Fn()) -> f64 {
    let time = |repeats: u32| {
        let start = Instant::now();
        (0..repeats).for_each(|_| work());
        start.elapsed().as_secs_f64() / f64::from(repeats)
    };
    let repeats = (2e-3 / time(1)).clamp(1.0, 1e5) as u32;
    (0..20).map(|_| time(repeats)).fold(f64::INFINITY, f64::min)
}
